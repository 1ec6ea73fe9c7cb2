# SPDX-License-Identifier: MIT
# For GNU make: one matrix at a time, and the other tests after them. Ranks of a matrix wait for each other by polling; beside each other, or
# beside six tests, on few cores they would mostly poll: all of them took nine minutes so, and take three and a half alone. Their logs
# are chained in the order of the list, whichever of them are asked for.
matrix_logs := $(filter tests/mpi/matrix-%.log,$(TEST_LOGS))
matrix_before :=
$(foreach log,$(matrix_logs),$(if $(matrix_before),$(eval $(log): | $(matrix_before)))$(eval matrix_before := $(log)))
ifneq ($(matrix_before),)
$(filter-out $(matrix_logs),$(TEST_LOGS)): | $(matrix_before)
endif
