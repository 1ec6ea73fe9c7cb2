himeno-gpu -b cuda -s L -k stream -t 1
