gemm-gpu -b opencl --ladder -s 4096 -t 0.05
