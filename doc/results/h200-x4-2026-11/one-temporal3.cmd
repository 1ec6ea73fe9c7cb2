himeno-gpu -b cuda -s 66x256x512 -t 1 -k temporal3 --verify off --json one-temporal3.json
