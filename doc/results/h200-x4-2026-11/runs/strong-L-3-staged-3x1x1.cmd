mpirun -np 3 himeno-gpu -s L -k stream -p 3x1x1 -t 0.25 -x staged -b cuda --json strong-L-3-staged-3x1x1.json
