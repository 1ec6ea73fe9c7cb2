himeno-gpu -b cuda -s S --ladder -t 0.3
