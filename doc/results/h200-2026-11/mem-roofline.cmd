mem-gpu -b cuda --roofline --pairs -t 3 --kernels ladder-cuda-XL.json,mem-traffic.json
