gemm-gpu -b cuda --device 0 --ladder --sizes 1024,4096,8192 -t 0.1
