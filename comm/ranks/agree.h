/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Ranks agree on one verdict, and print each message once. */
#ifndef COMM_RANKS_AGREE_H
#define COMM_RANKS_AGREE_H

#include <mpi.h>

#include "base/status.h"

/** \brief Collective: the worst status of all ranks. Rank 0 prints each distinct held error once,
 * with who had it. */
status_t agree_status(MPI_Comm comm, status_t status);

/** \brief One rank failed where the others cannot know: prints what is held and ends the job with
 * that exit code. */
void agree_abort(status_t status) __attribute__((noreturn));

#endif
