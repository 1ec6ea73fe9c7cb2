mpirun -np 1 himeno-gpu -s M -k stream -p 1x1x1 -t 0.5 -b cuda --json strong-M-1-none-1x1x1.json
