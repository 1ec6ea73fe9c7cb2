tests/mpi/flips cuda KERNEL TRANSPORT SIZE standard|dense all COUNT 0 SEED, as each of the lines behind $
