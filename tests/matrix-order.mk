# SPDX-License-Identifier: MIT
# For GNU make: runs the matrices one after the other, and other tests after them. Ranks of a matrix wait for each other by
# polling. If matrices ran at the same time on few cores, their ranks would mostly poll: all took nine minutes together, and three
# and a half one by one. Each log depends on the previous one of those requested.
matrix_logs := $(filter tests/mpi/matrix-%.log,$(TEST_LOGS))
matrix_before :=
$(foreach log,$(matrix_logs),$(if $(matrix_before),$(eval $(log): | $(matrix_before)))$(eval matrix_before := $(log)))
ifneq ($(matrix_before),)
$(filter-out $(matrix_logs),$(TEST_LOGS)): | $(matrix_before)
endif
