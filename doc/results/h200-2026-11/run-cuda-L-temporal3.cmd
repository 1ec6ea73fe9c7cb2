himeno-gpu -b cuda -s L -k temporal3 -t 1
