gemm-gpu -b cuda --fragment-map
