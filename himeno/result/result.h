/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The results of a run, in parts by the component that writes them. */
#ifndef HIMENO_RESULT_RESULT_H
#define HIMENO_RESULT_RESULT_H

#include "himeno/result/ranks.h"
#include "himeno/verify/verify.h"
#include "himeno/solver/solver.h"

#define SOAK_DATA_SETS 2

/** A wrong array of a rank, or a wrong multiprocessor. */
struct soak_corruption {
  int rank, array; /**< array is SOLVER_ARRAYS if multiprocessor `processor` is wrong */
  int processor;
  int64_t points;   /**< number of wrong points */
  int64_t first[3]; /**< global indices of the first wrong point */
  uint32_t is, must_be;
};

/** A corruption, with the block in which it was found. */
struct soak_found {
  int block, sweep, first;
  enum himeno_data data;
  struct soak_corruption corruption;
};

/** Maximum number of corruptions kept for the report; the log has all of them. */
#define SOAK_FOUND_MAX 32

struct soak_result {
  double seconds; /**< wall-clock time of the soak */
  int blocks, wrong_blocks;
  int64_t corruptions;
  int n;
  struct soak_found found[SOAK_FOUND_MAX]; /**< on rank 0 */
};

/** The timed blocks, counted by himeno_block_add. */
struct himeno_timing {
  double points;   /**< points per sweep, of all ranks */
  double seconds;  /**< sum of all timed sweeps */
  int64_t sweeps;  /**< number of timed sweeps */
  double *samples; /**< seconds of each timed block */
  int n_samples;
  double phase_sums[HIMENO_PHASES]; /**< this rank's mean seconds per sweep, summed over blocks */
  double waited_sum;                /**< this rank's mean waits per sweep, summed over blocks */
  struct solver_block last;
  int partial; /**< 1: ended by a signal, or not ended yet */
};

/** Bytes per second of the ceiling kernel; 0 if unknown. */
struct himeno_ceiling {
  double all;              /**< rate of all ranks at the same time */
  double other_data;       /**< rate of all ranks with the data set that the run does not use */
  double noise;            /**< noise of `all`'s batches with either data set, relative */
  double mine, mine_noise; /**< rate and noise of this rank's device */
};

/** Rates of batches of passes of the ceiling kernel, of all ranks. */
struct himeno_ceilings {
  double *rates;
  int n;
};

/** The reference of the timed blocks. */
struct himeno_verification {
  enum verify_source source;
  int reference_sweeps; /**< sweeps of a block that the reference covers; 0: all */
  int pauses;           /**< 1: timed blocks pause at check points */
  int check_blocks;     /**< number of untimed blocks that paused at check points */
  /** results of every block at its check points; owned by the solver */
  const struct solver_check *points;
  int n_points;
  uint64_t coefficients; /**< sum of the constant arrays' checksums */
};

struct himeno_result {
  struct himeno_timing timing;
  struct himeno_ceiling ceiling;
  struct himeno_verification verification;
  struct energy energy;                        /**< energy window of this rank's device */
  struct path_probe probes[HALO_MESSAGES_MAX]; /**< paths of this rank's messages */
  struct himeno_counts counts;                 /**< sums over all ranks' emulators */
  struct himeno_ranks ranks;
  struct soak_result soak; /**< filled in with --soak */
  status_t verdict;
  int ended; /**< 1: there is a result to report, whatever the verdict is */
};

void himeno_result_free(struct himeno_result *result);

/** \brief Returns the GFLOPS of the timed sweeps over all ranks. */
double himeno_timing_gflops(const struct himeno_timing *timing);

struct himeno_rung {
  const struct himeno_kernel *kernel;
  struct himeno_resources resources;
  status_t status;           /**< STATUS_ENVIRONMENT: this device cannot run the kernel */
  int sweeps;                /**< sweeps per block; 0: not chosen yet */
  struct verify_value value; /**< the value that each block must have */
  double *samples;           /**< seconds of each timed block in all rounds */
  int n_samples;
  double noise;                    /**< noise of the samples, relative; 0 for fewer than three */
  double gflops, bytes_per_second; /**< rates by the median of the samples */
  double gosa;
  uint64_t checksum;
  enum verify_source verified;
  struct himeno_counts counts; /**< counts of the emulator, if one ran the kernel */
};

struct himeno_ladder {
  struct himeno_rung *rungs;
  int n, made;  /**< n: complete rungs; made: with one that a signal cut short */
  double begin; /**< by stats_now */
  int rounds;   /**< number of times that each rung is measured */
  int shown;    /**< number of rungs already printed */
  struct himeno_ceilings ceilings;
  double ceiling, ceiling_noise; /**< ceiling: bytes per second for all rungs; 0 if unknown */
  int partial;                   /**< 1: a signal ended the ladder before all rungs and rounds */
};

#endif
