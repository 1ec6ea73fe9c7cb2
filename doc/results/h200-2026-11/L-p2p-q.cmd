mpirun -np 4 himeno-gpu -b cuda --timeout 8 -s L -t 1 -k stream -x p2p -p 2x2x1 --json L-p2p-q.json
