gemm-gpu -b cuda -s 4096 --trans TT -t 0.5
