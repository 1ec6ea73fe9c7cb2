himeno-gpu -b cuda -s XL -k temporal4 -t 1
