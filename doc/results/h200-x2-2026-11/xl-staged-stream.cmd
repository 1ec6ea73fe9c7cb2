mpirun -np 2 himeno-gpu -b cuda -s XL -x staged -k stream -t 1 --json xl-staged-stream.json
