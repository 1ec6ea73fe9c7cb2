mpirun -np 1 himeno-gpu -b cuda --device 0 -s M -k auto -t 2
