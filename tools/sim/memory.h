/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A host's memory, which the copies of its ranks share. Each byte of a copy takes sim.own
 * seconds of its own, for a bus or a core, and sim.host for each copy that is under way there. */
#ifndef TOOLS_SIM_MEMORY_H
#define TOOLS_SIM_MEMORY_H

#include "base/status.h"

/** \brief For all hosts. */
status_t memory_open(void);

/** \brief A copy begins on the host of \a rank; what must be served until it ends. */
double memory_begin(int rank, double bytes);

/** \brief When the copy ends if none begins or ends before: now, and it has. */
double memory_end(int rank, double target);

#endif
