/* SPDX-License-Identifier: MIT */
#ifndef COMM_RANKS_MPI_CHECK_H
#define COMM_RANKS_MPI_CHECK_H

#include "base/status.h"

/** \brief Status of an MPI call: logs "what: MPI's text" and returns STATUS_FAULT unless \a error
 * is MPI_SUCCESS. */
status_t mpi_check(int error, const char *what);

#endif
