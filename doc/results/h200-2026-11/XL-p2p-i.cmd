mpirun -np 4 himeno-gpu -b cuda --timeout 8 -s XL -t 1 -k stream -x p2p -p 4x1x1 --json XL-p2p-i.json
