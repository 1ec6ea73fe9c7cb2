gemm-gpu -b opencl -s 1024
