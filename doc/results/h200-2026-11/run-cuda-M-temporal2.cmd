himeno-gpu -b cuda -s M -k temporal2 -t 1
