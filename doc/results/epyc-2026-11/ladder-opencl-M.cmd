himeno-gpu -b opencl --device 0 -s M --ladder -t 2
