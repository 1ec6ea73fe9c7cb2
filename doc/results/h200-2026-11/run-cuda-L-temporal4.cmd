himeno-gpu -b cuda -s L -k temporal4 -t 1
