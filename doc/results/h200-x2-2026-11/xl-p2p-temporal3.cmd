mpirun -np 2 himeno-gpu -b cuda -s XL -x p2p -k temporal3 -t 1 --json xl-p2p-temporal3.json
