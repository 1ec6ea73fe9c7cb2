mpirun -np 4 himeno-gpu -b cuda --timeout 8 -s L -t 1 -k stream -x staged --json L-staged-first.json
