mpirun -np 3 himeno-gpu -s S -k stream -p 3x1x1 -t 0.25 -x p2p -w -b cuda --json weak-S-3-p2p-3x1x1.json
