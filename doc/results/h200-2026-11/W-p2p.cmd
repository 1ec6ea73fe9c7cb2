mpirun -np 4 himeno-gpu -b cuda --timeout 8 -s L -w -t 1 -k stream -x p2p --verify off --json W-p2p.json
