mem-gpu -b cuda --copies --mixes --host -t 6
