mpirun -np 4 himeno-gpu -s M -k stream -p 2x2x1 -t 0.5 -x p2p -b cuda --json strong-M-4-p2p-2x2x1.json
