gemm-gpu -b cuda -s 1024 -t 0.7
