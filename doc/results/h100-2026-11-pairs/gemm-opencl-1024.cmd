gemm-gpu -b opencl -s 1024 -t 0.7
