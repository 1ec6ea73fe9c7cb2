/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A thread in each rank that signals that the rank is alive, independent of the program, and
 * notices silent ranks.
 *
 * The ranks of one host write beats to a table that they share (alarm.h). If a rank is silent for
 * the deadline, or the program hangs in a blocking call, waiting programs are asked to report. If
 * none reports in time, the thread itself reports and ends the process, upon which the launcher
 * ends the other processes. The thread makes no MPI calls. */
#ifndef COMM_RANKS_HEARTBEAT_H
#define COMM_RANKS_HEARTBEAT_H

#include "base/status.h"

/** \brief Starts the thread. Collective over all ranks, after watch_open. Does nothing for a single
 * rank. Ranks that cannot share memory with their host's other ranks exchange messages with them,
 * as with ranks of other hosts. */
status_t heartbeat_open(void);

/** \brief Call after MPI_Finalize. Ends the thread when all ranks of this host have called this. */
void heartbeat_close(void);

#endif
