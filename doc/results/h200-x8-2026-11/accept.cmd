mpirun -np 8 himeno-gpu -b cuda -s L -w -t 2 --accept h200
