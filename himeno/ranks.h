/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What each rank saw, brought together on rank 0. Collective; ranks agree on the outcome. */
#ifndef HIMENO_RANKS_H
#define HIMENO_RANKS_H

#include "base/stats.h"
#include "comm/ranks/placement.h"
#include "himeno/result.h"

/** \brief What a rank computed itself, of seconds a sweep that hold up to \a waited of waiting for
 * neighbours: less that, but no less than its ceiling takes for the same bytes. All where the
 * ceiling is unknown. */
double himeno_own_seconds(const struct himeno_rank *rank, double compute, double waited);

/** \brief Their noise over the blocks. Where waits took most of a CPU's down to its ceiling's, they
 * are as noisy as that, which is measured between blocks too. */
double himeno_own_noise(const struct himeno_rank *rank, const struct stats_summary *seconds);

/** \brief Fills result.ranks, result.throttled, result.series and result.times. */
status_t himeno_ranks_gather(const struct placement *placement, const struct solver *solver,
                             struct record *record, struct himeno_result *result);

/** \brief Sums the ranks' emulator counts into the result. */
status_t himeno_counts_gather(MPI_Comm comm, const struct solver *solver, struct himeno_result *result);

#endif
