/* SPDX-License-Identifier: MIT */
/** \file
 * \brief --ladder: the kernels one after the other, and what each step gains. */
#ifndef HIMENO_LADDER_H
#define HIMENO_LADDER_H

#include "himeno/choice.h"
#include "himeno/measure.h"
#include "himeno/result.h"

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

/** \brief Runs every kernel that stands on the backend's ladder, and the user's own above them, in
 * rounds of turns; rank 0 shows each rung as it ends.
 *
 * Collective. STATUS_WRONG when a rung's result is wrong; a rung that cannot run here is passed
 * over and says so. The caller frees \a ladder, also when this fails. */
status_t himeno_ladder(const struct himeno_config *config, struct himeno_choice *choice,
                       const struct verify_value *value, struct himeno_result *result,
                       struct himeno_ladder **ladder);
void himeno_ladder_free(struct himeno_ladder *ladder);

#endif
