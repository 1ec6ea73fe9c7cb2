mpirun -np 4 comm-gpu -b cuda -x p2p --parts pairs --min 8 --max 16M --step 128 --samples 3 --json comm-pairs.json
