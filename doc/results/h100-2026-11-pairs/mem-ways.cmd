mem-gpu -b cuda --copies --mixes -t 2 --streams 1 --widths 16 --pace free
