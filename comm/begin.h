/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The start of a program of many ranks. */
#ifndef COMM_BEGIN_H
#define COMM_BEGIN_H

#include "base/status.h"

/** \brief MPI_Init, which a signal ends also where it hangs. STATUS_ENVIRONMENT, printed, where it fails or where a launcher
 * started several ranks that do not see each other. From here on a file that would grow beyond the limit is an error like
 * a full disk, and does not end the process. */
status_t begin_mpi(int *argc, char ***argv);

/** \brief MPI_Finalize, with the deadline of all waits. */
void end_mpi(void);

#endif
