gemm-gpu -b cuda -k wgmma --type bf16 -s 4096 -t 2
