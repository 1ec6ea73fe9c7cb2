mem-gpu -b opencl --latency --pairs -t 1   (the levels were found again in these curves by a later version)
