gemm-gpu -b cuda -k wgmma --type tf32 -s 8192 -t 0.5
