mpirun -np 8 himeno-gpu -b cuda -t 0.6 --no-tune -s XL -k temporal4 -x p2p -p 2x2x2
