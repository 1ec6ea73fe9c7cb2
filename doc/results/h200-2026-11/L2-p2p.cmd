mpirun -np 2 himeno-gpu -b cuda --timeout 8 -s L -t 1 -k stream -x p2p -p 2x1x1 --json L2-p2p.json
