himeno-gpu -b cuda -s XL -t 0.5
