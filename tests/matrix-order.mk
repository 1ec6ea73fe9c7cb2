# SPDX-License-Identifier: MIT
# For GNU make: one matrix at a time. Ranks of a matrix wait for each other by polling; two matrices side by side on few cores would
# mostly poll. Their logs are chained in the order of the list, whichever of them are asked for.
matrix_logs := $(filter tests/mpi/matrix-%.log,$(TEST_LOGS))
matrix_before :=
$(foreach log,$(matrix_logs),$(if $(matrix_before),$(eval $(log): | $(matrix_before)))$(eval matrix_before := $(log)))
