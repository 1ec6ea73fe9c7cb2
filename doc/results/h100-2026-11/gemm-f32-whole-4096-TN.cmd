gemm-gpu -b cuda -s 4096 --trans TN -t 0.5
