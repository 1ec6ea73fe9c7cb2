mpirun -np 1 himeno-gpu -s 66x256x512 -k stream -p 1x1x1 -t 0.5 -b cuda --verify off --json strong-66x256x512-1-none-1x1x1.json
