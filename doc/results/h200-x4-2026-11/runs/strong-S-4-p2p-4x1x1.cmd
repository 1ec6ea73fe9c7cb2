mpirun -np 4 himeno-gpu -s S -k stream -p 4x1x1 -t 0.5 -x p2p -b cuda --json strong-S-4-p2p-4x1x1.json
