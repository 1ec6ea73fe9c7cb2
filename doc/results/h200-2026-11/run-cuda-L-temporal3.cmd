himeno-gpu -b cuda -s L -k temporal3 -t 0.6 --no-tune --json run-cuda-L-temporal3.json
