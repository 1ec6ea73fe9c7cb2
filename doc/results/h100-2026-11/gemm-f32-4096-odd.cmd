gemm-gpu -b cuda -s 4096 --lda 4097 --ldb 4099 -t 0.3
