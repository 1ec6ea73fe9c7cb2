himeno-gpu -b cuda -s M -k temporal4 -t 1
