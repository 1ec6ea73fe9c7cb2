gemm-gpu -b cuda --ladder -s 4096 -t 0.05
