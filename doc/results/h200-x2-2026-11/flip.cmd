HIMENO_FLIP="b1 50,100,200 12 300" mpirun -np 2 himeno-gpu -b cuda -s L --block 60 --soak 5s --json flip.json
