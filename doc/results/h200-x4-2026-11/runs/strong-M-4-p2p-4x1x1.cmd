mpirun -np 4 himeno-gpu -s M -k stream -p 4x1x1 -t 0.5 -x p2p -b cuda --json strong-M-4-p2p-4x1x1.json
