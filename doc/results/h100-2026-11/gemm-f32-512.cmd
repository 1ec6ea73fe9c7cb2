gemm-gpu -b cuda -s 512 -t 0.25
