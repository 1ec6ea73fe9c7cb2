gemm-gpu -b cuda -s 4096 -t 0.7
