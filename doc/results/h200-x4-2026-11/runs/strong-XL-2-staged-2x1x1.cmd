mpirun -np 2 himeno-gpu -s XL -k stream -p 2x1x1 -t 0.25 -x staged -b cuda --json strong-XL-2-staged-2x1x1.json
