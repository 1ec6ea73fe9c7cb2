mpirun -np 4 himeno-gpu -s XL -k stream -p 2x2x1 -t 0.5 -x staged -b cuda --json strong-XL-4-staged-2x2x1.json
