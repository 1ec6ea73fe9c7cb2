himeno-gpu -b cuda -s S -t 0.5
