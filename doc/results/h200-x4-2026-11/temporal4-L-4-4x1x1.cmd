mpirun -np 4 himeno-gpu -b cuda -t 0.6 --no-tune -s L -k temporal4 -x p2p -p 4x1x1
