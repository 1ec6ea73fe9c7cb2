mpirun -np 2 himeno-gpu -b cuda -s L -t 2 --json two-gpus-L.json
