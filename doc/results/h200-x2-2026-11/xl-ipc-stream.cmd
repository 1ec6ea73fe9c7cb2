mpirun -np 2 himeno-gpu -b cuda -s XL -x ipc -k stream -t 1 --json xl-ipc-stream.json
