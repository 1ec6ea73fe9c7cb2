mpirun -np 4 himeno-gpu -s S -k stream -p 2x2x1 -t 0.5 -x staged -b cuda --json strong-S-4-staged-2x2x1.json
