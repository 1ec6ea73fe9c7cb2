mpirun -np 1 himeno-gpu -b cuda --timeout 8 -s 66x256x512 -t 1 -k stream --verify off --json one-4i.json
