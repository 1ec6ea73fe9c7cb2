mpirun -np 2 comm-gpu -b cuda --parts halo,pairs --max 16M -x staged --json staged.json
