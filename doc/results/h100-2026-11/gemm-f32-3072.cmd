gemm-gpu -b cuda -s 3072 -t 0.25
