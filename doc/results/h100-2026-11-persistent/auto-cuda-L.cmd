mpirun -np 1 himeno-gpu -b cuda --device 0 -s L -k auto -t 2
