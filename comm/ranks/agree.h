/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Lets ranks agree on one status, and prints each distinct error once. */
#ifndef COMM_RANKS_AGREE_H
#define COMM_RANKS_AGREE_H

#include <mpi.h>

#include "base/status.h"

/** \brief Collective: returns the worst status of all ranks. Rank 0 prints each distinct held error
 * once, with the ranks that had it. */
status_t agree_status(MPI_Comm comm, status_t status);

/** \brief Ends the job after a failure that other ranks cannot notice; prints the held error. */
void agree_abort(status_t status) __attribute__((noreturn));

#endif
