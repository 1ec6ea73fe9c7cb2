gemm-gpu -b cuda -k wgmma --type f16 -s 8192 -t 2
