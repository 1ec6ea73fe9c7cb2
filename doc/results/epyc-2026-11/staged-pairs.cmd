mpirun -np 2 himeno-gpu -b cpu -s M -k stream -p 2x1x1 -n 60 --verify off -x staged (and -x p2p, which of them first by turns; the same with -n 12, and with -t 0.5 and verified)
