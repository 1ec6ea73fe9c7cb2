mpirun -np 1 himeno-gpu -b opencl --device 0 -s L -k stream -t 2
