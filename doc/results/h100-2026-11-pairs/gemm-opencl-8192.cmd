gemm-gpu -b opencl -s 8192 -t 0.7
