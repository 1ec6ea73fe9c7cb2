/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The start of a program of many ranks. */
#ifndef COMM_RANKS_BEGIN_H
#define COMM_RANKS_BEGIN_H

#include "comm/ranks/same.h"

/** \brief MPI_Init, which a signal ends also where it hangs. STATUS_ENVIRONMENT, printed, where it
 * fails or where a launcher started several ranks that do not see each other. STATUS_USAGE,
 * printed, if ranks were started differently; with \a start NULL that is not checked. From here on
 * every wait for another rank has a deadline of \a seconds (0: WATCH_SECONDS), and start_signals()
 * holds. */
status_t begin_mpi(int *argc, char ***argv, double seconds, const struct same_start *start);

/** \brief MPI_Finalize, with the deadline of all waits; ends the job where a wait was over
 * before. */
void end_mpi(void);

#endif
