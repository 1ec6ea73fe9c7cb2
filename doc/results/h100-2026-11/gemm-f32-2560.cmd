gemm-gpu -b cuda -s 2560 -t 0.25
