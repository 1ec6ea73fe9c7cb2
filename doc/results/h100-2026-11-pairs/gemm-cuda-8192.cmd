gemm-gpu -b cuda -s 8192 -t 0.7
