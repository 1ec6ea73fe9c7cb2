mpirun -np 4 comm-gpu -b cuda --parts halo -s L -p 4x1x1 --samples 5 --json comm-halo-i.json
