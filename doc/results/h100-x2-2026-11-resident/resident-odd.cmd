mpirun -np 1 tests/mpi/matrix tests/golden/himeno.csv cuda odd resident
mpirun -np 2 tests/mpi/matrix tests/golden/himeno.csv cuda odd resident
mpirun -np 2 tests/mpi/matrix tests/golden/himeno.csv cuda cuts resident
