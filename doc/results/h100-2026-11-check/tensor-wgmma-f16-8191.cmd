gemm-gpu -b cuda -k wgmma --type f16 -s 8191 -t 0.5
