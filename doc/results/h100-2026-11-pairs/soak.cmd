himeno-gpu -b cuda -s M --block 60 --soak 12s --soak-log soak.jsonl
