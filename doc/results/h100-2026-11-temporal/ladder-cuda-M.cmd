himeno-gpu -b cuda -s M --ladder -t 0.3
