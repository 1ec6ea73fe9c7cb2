gemm-gpu -b cuda -k wmma --type f16 -s 8192 -t 0.5
