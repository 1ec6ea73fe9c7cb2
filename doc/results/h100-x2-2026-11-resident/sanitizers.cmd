compute-sanitizer --tool TOOL himeno-gpu -b cuda -s 8x20x70 -k resident --data dense -n 30 --no-tune; over two (san2) with mpirun -np 2 and -x p2p; san2j with -p 1x2x1 too
