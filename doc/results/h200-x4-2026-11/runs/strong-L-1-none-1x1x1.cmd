mpirun -np 1 himeno-gpu -s L -k stream -p 1x1x1 -t 0.5 -b cuda --json strong-L-1-none-1x1x1.json
