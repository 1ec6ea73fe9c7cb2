gemm-gpu -b cuda -k wgmma --type f16 -s 4096 -t 2
