mpirun -np 1 himeno-gpu -b cuda -t 0.6 --no-tune -s 130x512x1024 -k temporal4 --verify off
