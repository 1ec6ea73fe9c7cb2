/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Included before each source of comm/ and himeno/ that himeno-sim compiles: messages go
 * over SimGrid's network, and polling takes no simulated time: a poll that finds nothing waits for
 * the next event. */
#ifndef TOOLS_SIM_SHIM_H
#define TOOLS_SIM_SHIM_H

#include <mpi.h>
#include <sched.h>

#include "base/stats.h"
#include "tools/sim/device.h"
#include "tools/sim/engine.h"

#undef MPI_Comm_rank
#undef MPI_Error_class
#undef MPI_Get_count
#undef MPI_Testsome
#undef MPI_Isend
#undef MPI_Irecv
#undef MPI_Iallreduce
#undef sched_yield
#define MPI_Comm_rank(comm, rank)       (*(rank) = sim_self()->number, MPI_SUCCESS)
#define MPI_Error_class(error, class)   (*(class) = (error), MPI_SUCCESS)
#define MPI_Get_count(of, type, floats) (*(floats) = (int)((of)->count / (int)sizeof(float)), MPI_SUCCESS)
#define MPI_Testsome                    sim_testsome
#define MPI_Isend                       sim_isend
#define MPI_Irecv                       sim_irecv
#define MPI_Iallreduce                  sim_iallreduce
#define sched_yield                     sim_yield
#define stats_now                       sim_now

#endif
