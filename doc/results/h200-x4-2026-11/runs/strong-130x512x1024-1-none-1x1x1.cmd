mpirun -np 1 himeno-gpu -s 130x512x1024 -k stream -p 1x1x1 -t 0.5 -b cuda --verify off --json strong-130x512x1024-1-none-1x1x1.json
