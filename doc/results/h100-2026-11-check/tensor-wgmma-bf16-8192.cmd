gemm-gpu -b cuda -k wgmma --type bf16 -s 8192 -t 2
