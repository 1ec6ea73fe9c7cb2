/* SPDX-License-Identifier: MIT */
#ifndef COMM_RANKS_MPI_CHECK_H
#define COMM_RANKS_MPI_CHECK_H

#include "base/status.h"

/** \brief Returns STATUS_OK if \a error is MPI_SUCCESS. Otherwise logs "what: MPI's text" and
 * returns STATUS_FAULT. */
status_t mpi_check(int error, const char *what);

#endif
