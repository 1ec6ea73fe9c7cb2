mpirun -np 1 himeno-gpu -b cuda --fill 95 -n 3 -k naive --verify off
