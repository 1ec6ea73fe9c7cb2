mpirun -np 2 comm-gpu -b cuda -x staged --parts pairs --min 64 --max 16M --step 16 --samples 3 --json staged.json
mpirun -np 2 comm-gpu -b cuda -x p2p --parts pairs --min 64 --max 16M --step 16 --samples 3 --json p2p.json
# paths.json: the first, with the pairs of both
