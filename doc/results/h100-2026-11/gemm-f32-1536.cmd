gemm-gpu -b cuda -s 1536 -t 0.25
