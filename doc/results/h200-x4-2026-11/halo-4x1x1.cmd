mpirun -np 4 comm-gpu -b cuda -x p2p --parts halo -s L -p 4x1x1 --samples 7 --json halo-4x1x1.json
