mpirun -np 4 himeno-gpu -b cuda --timeout 8 -s L -t 1 -k stream -x nccl --json L-nccl-first.json
