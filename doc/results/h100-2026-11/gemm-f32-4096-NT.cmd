gemm-gpu -b cuda -s 4096 --trans NT -t 0.4
