mpirun -np 2 himeno-gpu -b cuda -s XL -x p2p -k stream -t 1 --json xl-p2p-stream.json
