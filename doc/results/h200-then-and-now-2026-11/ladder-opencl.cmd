gemm-gpu -b opencl --ladder --sizes 1024,2048,3072,4096,5120,6144,7168,8192 -t 0.1 --json ladder-opencl.json
