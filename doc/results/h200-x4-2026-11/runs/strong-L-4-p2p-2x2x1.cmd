mpirun -np 4 himeno-gpu -s L -k stream -p 2x2x1 -t 0.5 -x p2p -b cuda --json strong-L-4-p2p-2x2x1.json
