himeno-gpu -b opencl -s XL -k stream -t 2
