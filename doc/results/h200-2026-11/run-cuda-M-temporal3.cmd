himeno-gpu -b cuda -s M -k temporal3 -t 1
