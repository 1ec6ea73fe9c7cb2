/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What each rank saw, brought together on rank 0. Collective; ranks agree on the outcome. */
#ifndef HIMENO_RANKS_H
#define HIMENO_RANKS_H

#include "himeno/run.h"

/** \brief Fills result.ranks, result.throttled, result.series and the stragglers. */
status_t himeno_ranks_gather(struct himeno_run *run);

/** \brief Sums the ranks' emulator counts into the result. */
status_t himeno_counts_gather(struct himeno_run *run);

#endif
