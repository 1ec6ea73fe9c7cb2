himeno-gpu -b cuda -s XL -k temporal3 -t 1
