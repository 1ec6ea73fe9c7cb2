mpirun -np 2 comm-gpu -b cuda --parts pairs --min 8 --max 16M --step 128 --samples 3 --json comm-two.json
