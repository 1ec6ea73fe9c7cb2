gemm-gpu -b cuda -k mma --type bf16 -s 8192 -t 0.5
