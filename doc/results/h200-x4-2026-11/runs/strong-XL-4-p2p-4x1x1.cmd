mpirun -np 4 himeno-gpu -s XL -k stream -p 4x1x1 -t 0.5 -x p2p -b cuda --json strong-XL-4-p2p-4x1x1.json
