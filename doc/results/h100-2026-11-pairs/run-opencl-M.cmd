himeno-gpu -b opencl -s M -k stream -t 2
