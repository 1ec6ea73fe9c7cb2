gemm-gpu -b cuda --load-study
