gemm-gpu -b cuda -k f16x2 --type f16-f16 -s 8192 -t 0.5
