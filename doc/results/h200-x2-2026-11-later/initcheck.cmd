HIMENO_CUDA_BULK=0|1 compute-sanitizer --tool initcheck himeno-gpu -b cuda -s 8x20x70 -k KERNEL --data dense -n 12 --no-tune
