himeno-gpu -b cuda -s L -k stream -t 14 --json stream.json
