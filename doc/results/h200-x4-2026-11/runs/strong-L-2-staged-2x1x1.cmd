mpirun -np 2 himeno-gpu -s L -k stream -p 2x1x1 -t 0.25 -x staged -b cuda --json strong-L-2-staged-2x1x1.json
