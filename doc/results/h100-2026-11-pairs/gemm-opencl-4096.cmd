gemm-gpu -b opencl -s 4096 -t 0.7
