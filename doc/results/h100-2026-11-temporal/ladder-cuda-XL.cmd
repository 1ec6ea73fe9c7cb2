himeno-gpu -b cuda -s XL --ladder -t 0.3
