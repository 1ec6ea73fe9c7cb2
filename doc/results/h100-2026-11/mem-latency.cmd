mem-gpu -b cuda --latency -t 6   (the levels were found again in these curves by a later version)
