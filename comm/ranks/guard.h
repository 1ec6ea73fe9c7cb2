/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A deadline for MPI calls without a nonblocking form: creating communicators, measured
 * sums, and MPI_Finalize.
 *
 * Before such a call all ranks meet in a barrier, which names missing ranks. If a rank falls silent
 * after the barrier, the heartbeat threads of the other ranks notice it. */
#ifndef COMM_RANKS_GUARD_H
#define COMM_RANKS_GUARD_H

#include <mpi.h>

#include "base/status.h"

/** \brief Makes a blocking MPI call with a deadline on all ranks of \a comm: guard_mpi(comm,
 * MPI_Comm_dup(comm, …), "MPI_Comm_dup"). Returns STATUS_HANG if a rank does not join in time,
 * STATUS_FAULT if the call fails. Only one thread may use it at a time. */
#define guard_mpi(comm, call, what)                                                                          \
  (guard_begin(comm, what) == STATUS_OK ? guard_end((call), (what)) : STATUS_HANG)

/** \brief The steps of guard_mpi before and after the MPI call. */
status_t guard_begin(MPI_Comm comm, const char *what);
status_t guard_end(int error, const char *what);

#endif
