HIMENO_FLIP="a3 100,100,200 5 200" himeno-gpu -b cuda -s M --block 60 --soak 5s
