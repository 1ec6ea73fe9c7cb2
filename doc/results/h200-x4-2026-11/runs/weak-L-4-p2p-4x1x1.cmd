mpirun -np 4 himeno-gpu -s L -k stream -p 4x1x1 -t 0.5 -x p2p -w -b cuda --verify off --json weak-L-4-p2p-4x1x1.json
