/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A deadline for MPI calls that have no form that does not block: making communicators, and the end.
 *
 * While such a call lasts a timer runs. Nobody can be asked then who is missing, so the process says that it waits, and ends with
 * STATUS_HANG; the launcher ends the others. Rank 0 is the first to give up, so that one rank speaks. */
#ifndef COMM_GUARD_H
#define COMM_GUARD_H

#include <mpi.h>

#include "base/status.h"

/** \brief After MPI_Init: from here on calls have this deadline. Without it they have none. */
void guard_open(double seconds);

/** \brief Another deadline, where there is one. */
void guard_seconds(double seconds);

/** \brief Around a blocking call: guard_mpi(MPI_Comm_dup(…), "MPI_Comm_dup") is agree_mpi with a deadline. Not in threads that run
 * at the same time. */
#define guard_mpi(call, what) (guard_begin(what), guard_end((call), (what)))

/** \brief The two halves of guard_mpi. */
void guard_begin(const char *what);
status_t guard_end(int error, const char *what);

#endif
