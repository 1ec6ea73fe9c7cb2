mpirun -np 2 himeno-gpu -b cuda -s XL -x staged -k temporal3 -t 1 --json xl-staged-temporal3.json
