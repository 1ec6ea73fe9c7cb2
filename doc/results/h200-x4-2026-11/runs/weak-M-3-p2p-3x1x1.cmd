mpirun -np 3 himeno-gpu -s M -k stream -p 3x1x1 -t 0.25 -x p2p -w -b cuda --json weak-M-3-p2p-3x1x1.json
