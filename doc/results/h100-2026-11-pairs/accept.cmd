himeno-gpu -b cuda -s L -t 3 --accept h100
