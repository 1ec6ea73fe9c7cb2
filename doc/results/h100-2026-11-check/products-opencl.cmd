gemm-gpu -b opencl --device 0 --ladder --sizes 1024,4096,8192 -t 0.1
