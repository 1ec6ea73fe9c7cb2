gemm-gpu -b cuda -k wmma --type f16-f16 -s 8192 -t 0.5
