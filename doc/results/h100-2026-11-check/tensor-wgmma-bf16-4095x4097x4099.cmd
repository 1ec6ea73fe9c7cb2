gemm-gpu -b cuda -k wgmma --type bf16 -s 4095x4097x4099 -t 0.5
