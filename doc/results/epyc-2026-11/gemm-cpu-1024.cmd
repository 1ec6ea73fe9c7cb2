gemm-gpu -b cpu -s 1024
