/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a ladder found: the kernels one after the other, and what each step gains. */
#ifndef HIMENO_RESULT_LADDER_H
#define HIMENO_RESULT_LADDER_H

#include "himeno/result/result.h"

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
