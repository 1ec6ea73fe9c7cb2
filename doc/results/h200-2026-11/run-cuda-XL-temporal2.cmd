himeno-gpu -b cuda -s XL -k temporal2 -t 1
