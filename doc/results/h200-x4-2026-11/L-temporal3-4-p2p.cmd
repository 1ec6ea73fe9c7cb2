mpirun -np 4 himeno-gpu -b cuda -s L -t 1 -k temporal3 -x p2p -p 4x1x1 --json L-temporal3-4-p2p.json
