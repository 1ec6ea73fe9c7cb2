mpirun -np 3 himeno-gpu -s M -k stream -p 3x1x1 -t 0.25 -x p2p -b cuda --json strong-M-3-p2p-3x1x1.json
