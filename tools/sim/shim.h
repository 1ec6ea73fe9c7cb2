/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Read before each source of comm/ that himeno-sim compiles: polling takes no simulated
 * time, so that a poll which finds nothing waits for what comes next (poll.h); and messages are
 * counted. */
#ifndef TOOLS_SIM_SHIM_H
#define TOOLS_SIM_SHIM_H

#include <mpi.h>
#include <sched.h>

#include "tools/sim/poll.h"

#undef MPI_Testsome
#undef MPI_Isend
#undef MPI_Iallreduce
#undef MPI_Test
#undef sched_yield
#define MPI_Testsome   sim_testsome
#define MPI_Isend      sim_isend
#define MPI_Iallreduce sim_iallreduce
#define MPI_Test       sim_test
#define sched_yield    sim_yield

#endif
