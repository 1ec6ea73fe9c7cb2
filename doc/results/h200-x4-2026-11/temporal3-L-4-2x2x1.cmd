mpirun -np 4 himeno-gpu -b cuda -t 0.6 --no-tune -s L -k temporal3 -x p2p -p 2x2x1
