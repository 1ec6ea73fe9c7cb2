mpirun -np 4 himeno-gpu -s M -k stream -p 4x1x1 -t 0.5 -x staged -w -b cuda --verify off --json weak-M-4-staged-4x1x1.json
