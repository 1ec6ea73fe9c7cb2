himeno-gpu -b cuda -s XL -k temporal2 -t 0.6 --no-tune --json run-cuda-XL-temporal2.json
