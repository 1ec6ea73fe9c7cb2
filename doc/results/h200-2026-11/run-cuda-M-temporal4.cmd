himeno-gpu -b cuda -s M -k temporal4 -t 0.6 --no-tune --json run-cuda-M-temporal4.json
