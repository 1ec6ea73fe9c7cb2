mpirun -np 2 gemm-gpu --distributed -b cpu -k simd -s 2048 -x p2p -p 1x2 -t 0.8 --panel 256 --verify off
