mpirun -np 2 himeno-gpu -b cuda -s L -w -t 2 --accept h200 --json accept-all.json
