mpirun -np 1 himeno-gpu -b cuda --device 0 -s XL -k stream -t 2
