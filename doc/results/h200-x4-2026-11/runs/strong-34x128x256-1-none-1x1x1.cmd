mpirun -np 1 himeno-gpu -s 34x128x256 -k stream -p 1x1x1 -t 0.5 -b cuda --verify off --json strong-34x128x256-1-none-1x1x1.json
