mpirun -np 2 gemm-gpu --distributed -b cpu -k cblas -s 2048 -x p2p -t 0.8 --verify off
