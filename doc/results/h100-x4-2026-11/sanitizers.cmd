HIMENO_CUDA_BULK=0|1 compute-sanitizer --tool TOOL himeno-gpu -b cuda -s 8x20x70 -k KERNEL --data dense -n 12 --timeout 100 --no-tune
mpirun -np 2 compute-sanitizer --tool TOOL himeno-gpu -b cuda -s 20x20x70 -k temporal2 -x p2p --data dense -n 12 --timeout 60 --no-tune
