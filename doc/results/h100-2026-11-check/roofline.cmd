mem-gpu -b cuda --roofline --pairs -t 3 --kernels json/ladder-cuda-XL.json,json/traffic.json
