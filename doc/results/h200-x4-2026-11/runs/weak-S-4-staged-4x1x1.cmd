mpirun -np 4 himeno-gpu -s S -k stream -p 4x1x1 -t 0.5 -x staged -w -b cuda --verify off --json weak-S-4-staged-4x1x1.json
