mpirun -np 4 himeno-gpu -b cuda --timeout 8 -s XL -t 1 -k temporal3 -x p2p -p 4x1x1 --json XL-t-p2p-i.json
