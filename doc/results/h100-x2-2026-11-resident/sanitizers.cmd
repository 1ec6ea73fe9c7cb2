compute-sanitizer --tool TOOL himeno-gpu -b cuda -s 8x20x70 -k resident --data dense -n 30 --no-tune
mpirun -np 2 compute-sanitizer --tool TOOL himeno-gpu -b cuda -s 8x20x70 -k resident -x p2p --data dense -n 30 --no-tune
mpirun -np 2 compute-sanitizer --tool TOOL himeno-gpu -b cuda -s 8x20x70 -k resident -p 1x2x1 -x p2p --data dense -n 30 --no-tune
