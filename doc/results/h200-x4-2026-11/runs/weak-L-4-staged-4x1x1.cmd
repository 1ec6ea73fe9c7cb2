mpirun -np 4 himeno-gpu -s L -k stream -p 4x1x1 -t 0.5 -x staged -w -b cuda --verify off --json weak-L-4-staged-4x1x1.json
