himeno-gpu -b cuda -s M -k temporal3 -t 0.6 --no-tune --json run-cuda-M-temporal3.json
