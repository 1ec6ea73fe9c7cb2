mpirun -np 2 himeno-gpu -s XL -k stream -p 1x2x1 -t 0.25 -x p2p -b cuda --json strong-XL-2-p2p-1x2x1.json
