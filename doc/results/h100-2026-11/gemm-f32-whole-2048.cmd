gemm-gpu -b cuda -s 2048 -t 0.7
