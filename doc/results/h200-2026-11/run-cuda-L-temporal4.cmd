himeno-gpu -b cuda -s L -k temporal4 -t 0.6 --no-tune --json run-cuda-L-temporal4.json
