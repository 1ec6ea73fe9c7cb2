mem-gpu -b cuda --copies --mixes --latency --host -t 1
