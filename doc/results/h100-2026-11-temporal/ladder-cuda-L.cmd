himeno-gpu -b cuda -s L --ladder -t 0.3
