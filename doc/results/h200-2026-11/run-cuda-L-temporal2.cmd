himeno-gpu -b cuda -s L -k temporal2 -t 1
