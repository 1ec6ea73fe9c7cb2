himeno-gpu -b cuda -s M -k stream -t 2
