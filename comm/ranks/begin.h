/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The start and end of a program with several ranks. */
#ifndef COMM_RANKS_BEGIN_H
#define COMM_RANKS_BEGIN_H

#include "comm/ranks/same.h"

/** \brief Calls MPI_Init; a signal ends the process if MPI_Init hangs. Returns STATUS_ENVIRONMENT
 * if it fails, or if a launcher started several ranks that are not connected. Returns STATUS_USAGE
 * if ranks were started differently (not checked if \a start is NULL). Prints the error. From here
 * on every wait for another rank has a deadline of \a seconds (0: WATCH_SECONDS), and
 * start_signals() is in effect. */
status_t begin_mpi(int *argc, char ***argv, double seconds, const struct same_start *start);

/** \brief Calls MPI_Finalize with a deadline. Ends the job if a wait had passed its deadline. */
void end_mpi(void);

#endif
