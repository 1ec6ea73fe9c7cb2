/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A thread in each rank that reports that the rank lives, whatever its program does, and
 * notices ranks that it no longer hears of.
 *
 * The ranks of one host beat in a table that they share (alarm.h). If a rank is silent for the
 * deadline, or the program hangs in a call that blocks, programs that wait are asked to report; if
 * none does, the thread itself reports and ends the process, upon which the launcher ends the
 * others. The thread makes no MPI calls. */
#ifndef COMM_RANKS_HEARTBEAT_H
#define COMM_RANKS_HEARTBEAT_H

#include "base/status.h"

/** \brief Collective over all ranks, after watch_open. Nothing for one rank. Ranks that cannot
 * share memory with the others of their host have no table, and are known by messages alone, like
 * those of other hosts. */
status_t heartbeat_open(void);

/** \brief After MPI_Finalize: comes back once all ranks of this host are as far. */
void heartbeat_close(void);

#endif
