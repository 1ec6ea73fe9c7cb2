gemm-gpu -b cuda -k wgmma --type bf16 -s 8191 -t 0.5
