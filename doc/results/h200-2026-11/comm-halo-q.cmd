mpirun -np 4 comm-gpu -b cuda --parts halo -s L -p 2x2x1 --samples 5 --json comm-halo-q.json
