mpirun -np 1 himeno-gpu -b cuda -t 0.6 --no-tune -s XL -k temporal4
