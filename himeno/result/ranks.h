/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What each rank saw, brought together on rank 0. Collective; ranks agree on the outcome. */
#ifndef HIMENO_RESULT_RANKS_H
#define HIMENO_RESULT_RANKS_H

#include "base/stats.h"
#include "comm/ranks/placement.h"
#include "himeno/result/energy.h"
#include "himeno/result/paths.h"
#include "himeno/result/record.h"
#include "suite/ranks.h"

/** One rank as the report shows it. */
struct himeno_rank {
  struct rank_row row;
  int64_t points;               /**< owned */
  double phases[HIMENO_PHASES]; /**< mean seconds per sweep over all timed blocks */
  double waited;                /**< the same, within interior, at most */
  /** median seconds per sweep of its blocks' interior and boundary, without waits; on rank 0 */
  double compute;
  double noise;         /**< of these seconds over the blocks, relative; on rank 0 */
  double ceiling;       /**< bytes per second of its device, 0 if unknown */
  double ceiling_noise; /**< of its batches, relative */
  struct record_telemetry telemetry;
  struct energy energy;
  int cards;         /**< network cards of its host that are up */
  double cards_gbps; /**< rate of the slowest of them, Gbit/s; 0 if unknown */
  int n_paths;
  struct himeno_path paths[HALO_MESSAGES_MAX];
};

/** All ranks; empty on other ranks than 0, and before they were gathered. */
struct himeno_ranks {
  int n;
  struct himeno_rank *rank;
  double *throttled;               /**< per timed block, whether any device was at its end */
  struct telemetry_sample *series; /**< [rank · rows + row] */
  int kept_blocks;
  struct record_block *times; /**< [rank · kept_blocks + block], without waits */
  struct record_when when[RECORDS_MAX];
};

/** \brief What a rank computed itself, of seconds per sweep that hold up to \a waited of waiting
 * for neighbours: less that, but no less than its ceiling takes for the same bytes. All if the
 * ceiling is unknown. */
double himeno_own_seconds(const struct himeno_rank *rank, double compute, double waited);

/** \brief Their noise over the blocks. If waits took most of a CPU's down to its ceiling's, they
 * are as noisy as that, which is measured between blocks too. */
double himeno_own_noise(const struct himeno_rank *rank, const struct stats_summary *seconds);

/** \brief Fills the medium of every path. */
void himeno_media_find(struct himeno_ranks *ranks);

struct himeno_result;

/** \brief Fills result->ranks. */
status_t himeno_ranks_gather(const struct placement *placement, struct solver *solver, struct record *record,
                             struct himeno_result *result);

/** \brief Sums the ranks' emulator counts. */
status_t himeno_counts_gather(MPI_Comm comm, const struct solver_grid *grid, struct himeno_counts *sum);

#endif
