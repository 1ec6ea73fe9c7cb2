mpirun -np 4 comm-gpu -b cuda -x p2p --parts halo -s L -p 2x2x1 --samples 7 --json halo-2x2x1.json
