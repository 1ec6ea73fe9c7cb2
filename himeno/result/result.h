/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a run found, in parts by who writes them. */
#ifndef HIMENO_RESULT_RESULT_H
#define HIMENO_RESULT_RESULT_H

#include "himeno/result/ranks.h"
#include "himeno/verify/verify.h"
#include "himeno/solver/solver.h"

#define SOAK_DATA_SETS 2

/** A rank's wrong array, or multiprocessor. */
struct soak_corruption {
  int rank, array; /**< SOLVER_ARRAYS: a multiprocessor */
  int processor;
  int64_t points;   /**< wrong ones */
  int64_t first[3]; /**< global */
  uint32_t is, must_be;
};

/** One rank's wrong array in one block. */
struct soak_found {
  int block, sweep, first;
  enum himeno_data data;
  struct soak_corruption corruption;
};

/** Corruptions kept for the report; the log has all of them. */
#define SOAK_FOUND_MAX 32

struct soak_result {
  double seconds; /**< wall clock */
  int blocks, wrong_blocks;
  int64_t corruptions;
  int n;
  struct soak_found found[SOAK_FOUND_MAX]; /**< on rank 0 */
};

/** The timed blocks, as himeno_block_add counts them. */
struct himeno_timing {
  double points;   /**< per sweep, of all ranks */
  double seconds;  /**< of all timed sweeps */
  int64_t sweeps;  /**< timed */
  double *samples; /**< seconds of each timed block */
  int n_samples;
  double phase_sums[HIMENO_PHASES]; /**< this rank's mean seconds per sweep, summed over blocks */
  double waited_sum;                /**< the same of what its blocks waited */
  struct solver_block last;
  int partial; /**< ended by a signal, or not yet ended */
};

/** Bytes per second of the ceiling kernel; 0 if unknown. */
struct himeno_ceiling {
  double all;              /**< all ranks at once */
  double other_data;       /**< the same with the other data set */
  double noise;            /**< of batches of both, relative */
  double mine, mine_noise; /**< of this rank's device */
};

/** Rates of batches of passes of the ceiling kernel, of all ranks. */
struct himeno_ceilings {
  double *rates;
  int n;
};

/** Reference of the timed blocks. */
struct himeno_verification {
  enum verify_source source;
  int reference_sweeps;              /**< of a block that the reference covers; 0: all of them */
  int pauses;                        /**< timed blocks pause at check points */
  int check_blocks;                  /**< untimed ones that did */
  const struct solver_check *points; /**< what every block had at them; the solver's */
  int n_points;
  uint64_t coefficients; /**< sum of the constant arrays' checksums */
};

struct himeno_result {
  struct himeno_timing timing;
  struct himeno_ceiling ceiling;
  struct himeno_verification verification;
  struct energy energy;                        /**< of this rank's device */
  struct path_probe probes[HALO_MESSAGES_MAX]; /**< of this rank's messages */
  struct himeno_counts counts;                 /**< of all ranks' emulators */
  struct himeno_ranks ranks;
  struct soak_result soak; /**< with --soak */
  status_t verdict;
  int ended; /**< there is a result to report, whatever the verdict is */
};

void himeno_result_free(struct himeno_result *result);

/** \brief Timed GFLOPS over all ranks. */
double himeno_timing_gflops(const struct himeno_timing *timing);

struct himeno_rung {
  const struct himeno_kernel *kernel;
  struct himeno_resources resources;
  status_t status;           /**< STATUS_ENVIRONMENT: this device cannot run it */
  int sweeps;                /**< of a block; 0: not chosen yet */
  struct verify_value value; /**< that a block must give */
  double *samples;           /**< seconds of each timed block, of all rounds */
  int n_samples;
  double noise;                    /**< of them, relative; 0 of fewer than three */
  double gflops, bytes_per_second; /**< by their median */
  double gosa;
  uint64_t checksum;
  enum verify_source verified;
  struct himeno_counts counts; /**< where an emulator ran it */
};

struct himeno_ladder {
  struct himeno_rung *rungs;
  int n, made; /**< rungs, without those that a signal cut off; and with them */
  int rounds;  /**< of turns that each rung has */
  int shown;   /**< of the rungs, whose lines stand on standard output */
  struct himeno_ceilings ceilings;
  double ceiling, ceiling_noise; /**< one for all rungs, bytes per second; 0 if unknown */
  int partial;                   /**< a signal ended it: rungs or rounds are missing */
};

#endif
