mpirun -np 2 himeno-gpu -s S -k stream -p 1x2x1 -t 0.25 -x staged -b cuda --json strong-S-2-staged-1x2x1.json
