mpirun -np 1 himeno-gpu -b cpu -s L --ladder
