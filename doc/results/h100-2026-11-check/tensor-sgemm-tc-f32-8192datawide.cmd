gemm-gpu -b cuda -k sgemm-tc --type f32 -s 8192 -t 0.5 --data wide
