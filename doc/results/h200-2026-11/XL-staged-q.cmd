mpirun -np 4 himeno-gpu -b cuda --timeout 8 -s XL -t 1 -k stream -x staged -p 2x2x1 --json XL-staged-q.json
