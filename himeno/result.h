/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a run found, and its rates. */
#ifndef HIMENO_RESULT_H
#define HIMENO_RESULT_H

#include "himeno/energy.h"
#include "himeno/record.h"
#include "himeno/soak/check.h"
#include "himeno/verify.h"
#include "suite/ranks.h"

/** What an acceptance measures of the way to a neighbour; zeros where it was not measured. */
struct himeno_way {
  double seconds; /**< of an exchange of one float */
  double bytes_per_second;
  double sent;                   /**< bytes through it meanwhile, 0 where nobody counted */
  struct telemetry_sent counted; /**< what the device counted of them */
  int nvlinks;                   /**< of the device that are active; -1 unknown */
};

/** How one message of a rank travels. */
struct himeno_path {
  int peer;
  char face[8];
  int64_t bytes;
  char used[16];
  char why[GPU_TEXT_MAX]; /**< "" where it is the transport of the run */
  char handover[16];      /**< of halo_path, and why */
  char handover_why[GPU_TEXT_MAX];
  struct himeno_way way;
};

/** One rank as the report shows it. */
struct himeno_rank {
  struct rank_row row;
  int64_t points;               /**< owned */
  double phases[HIMENO_PHASES]; /**< mean seconds a sweep over all timed blocks */
  double waited;                /**< likewise, within interior, at most */
  /** median seconds a sweep of its blocks' interior and boundary, without waits; on rank 0 */
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

struct himeno_result {
  double points;   /**< that a sweep computes, of all ranks */
  double seconds;  /**< of all timed sweeps */
  int64_t sweeps;  /**< timed */
  double *samples; /**< seconds of each timed block */
  int n_samples;
  /** bytes per second of the ceiling kernel, all ranks at once; 0 if unknown */
  double ceiling;
  double ceilings_noise;                     /**< of batches of both, relative */
  double other_ceiling;                      /**< the same with the other data set; 0 if unknown */
  double own_ceiling, own_ceiling_noise;     /**< of this rank's device */
  struct himeno_way ways[HALO_MESSAGES_MAX]; /**< of this rank's messages */
  struct himeno_counts counts;               /**< of all ranks' emulators */
  double phase_sums[HIMENO_PHASES];          /**< this rank's means a sweep, over blocks */
  double waited_sum;                         /**< likewise of what its blocks waited */
  struct energy energy;                      /**< of this rank's device */
  struct solver_block last;
  enum verify_source verified;
  /** of a block that the reference vouches for, where that is not all; or 0 */
  int reference_sweeps;
  int pauses;                              /**< timed blocks pause at check points */
  int check_blocks;                        /**< untimed ones that did */
  const struct solver_check *check_points; /**< what every block had at them; the solver's */
  int n_check_points;
  uint64_t coefficients; /**< sum of the constant arrays' checksums */
  status_t verdict;
  int partial; /**< ended by a signal, or not yet ended */
  int ended;   /**< there is a result to report, whatever the verdict is */
  /** a timed block: whether any device was throttled at its end; on rank 0 */
  double *throttled;
  int n_ranks;                     /**< on rank 0, once they were gathered */
  struct himeno_rank *ranks;       /**< on rank 0 */
  struct telemetry_sample *series; /**< [rank · rows + row], on rank 0 */
  /** each rank's, without waits; on rank 0 */
  int kept_blocks;
  struct record_block *times; /**< [rank · kept_blocks + block] */
  struct record_when when[RECORDS_MAX];
  struct soak_result soak; /**< with --soak */
};

void himeno_result_free(struct himeno_result *result);

/** \brief Timed GFLOPS over all ranks. */
double himeno_result_gflops(const struct himeno_result *result);

#endif
