himeno-gpu -b cuda -s XL -k temporal3 -t 0.6 --no-tune --json run-cuda-XL-temporal3.json
