mpirun -np 1 himeno-gpu -s 18x64x128 -k stream -p 1x1x1 -t 0.5 -b cuda --verify off --json strong-18x64x128-1-none-1x1x1.json
