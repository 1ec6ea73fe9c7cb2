mpirun -np 2 comm-gpu -b cuda -x p2p --parts pairs --min 8 --max 256M --step 32 --samples 3 --json comm-large.json
