mpirun -np 1 himeno-gpu -b cuda --timeout 8 -s 130x512x1024 -t 1 -k stream --verify off --json one-XL-4i.json
