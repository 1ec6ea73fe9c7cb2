mpirun -np 1 himeno-gpu -b cuda --timeout 8 -s L -t 1 -k stream --json one-L.json
