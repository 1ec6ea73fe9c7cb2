/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Read before each source of comm/ and himeno/ that himeno-sim compiles: messages go over
 * SimGrid's network, and polling takes no simulated time: a poll which finds nothing waits for what
 * comes next. */
#ifndef TOOLS_SIM_SHIM_H
#define TOOLS_SIM_SHIM_H

#include <mpi.h>
#include <sched.h>

#include "base/stats.h"
#include "tools/sim/engine.h"
#include "tools/sim/transports.h"

#undef MPI_Testsome
#undef MPI_Isend
#undef MPI_Irecv
#undef MPI_Iallreduce
#undef sched_yield
#define MPI_Testsome   sim_testsome
#define MPI_Isend      sim_isend
#define MPI_Irecv      sim_irecv
#define MPI_Iallreduce sim_iallreduce
#define sched_yield    sim_yield
#define stats_now      sim_now

#endif
