mpirun -np 4 himeno-gpu -b cuda --timeout 8 -s L -t 1 -k stream -x p2p -p 4x1x1 --json L-p2p-i.json
