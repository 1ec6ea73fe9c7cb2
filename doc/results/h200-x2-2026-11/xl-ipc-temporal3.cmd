mpirun -np 2 himeno-gpu -b cuda -s XL -x ipc -k temporal3 -t 1 --json xl-ipc-temporal3.json
