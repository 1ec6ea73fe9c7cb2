mem-gpu -b cuda --roofline --pairs --kernels ladder.json,mem-traffic.json,gemm-ladder.json -t 4
