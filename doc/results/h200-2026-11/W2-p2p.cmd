mpirun -np 2 himeno-gpu -b cuda --timeout 8 -s L -w -t 1 -k stream -x p2p --verify off --json W2-p2p.json
