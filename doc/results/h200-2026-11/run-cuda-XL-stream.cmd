himeno-gpu -b cuda -s XL -k stream -t 1
