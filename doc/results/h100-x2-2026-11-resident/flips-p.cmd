tests/mpi/flips cuda KERNEL TRANSPORT SIZE standard|dense p COUNT 0 SEED, as each of the lines behind $
