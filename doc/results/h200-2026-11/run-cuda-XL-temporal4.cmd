himeno-gpu -b cuda -s XL -k temporal4 -t 0.6 --no-tune --json run-cuda-XL-temporal4.json
