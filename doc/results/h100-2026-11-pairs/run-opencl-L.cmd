himeno-gpu -b opencl -s L -k stream -t 2
