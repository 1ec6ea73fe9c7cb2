himeno-gpu -b cuda -s L -k temporal4 -t 14 --json temporal4-4.json
