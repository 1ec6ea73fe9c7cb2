/* SPDX-License-Identifier: MIT */
/** \file
 * \brief --ladder: the kernels one after the other, and what each step gains. */
#ifndef HIMENO_LADDER_H
#define HIMENO_LADDER_H

#include "himeno/choice.h"
#include "himeno/result.h"

struct himeno_rung {
  const struct himeno_kernel *kernel;
  struct himeno_resources resources;
  status_t status; /**< STATUS_ENVIRONMENT: this device cannot run it */
  double gflops, bytes_per_second, ceiling;
  double gosa;
  uint64_t checksum;
  enum verify_source verified;
  int blocks;
  struct himeno_counts counts; /**< where an emulator ran it */
};

struct himeno_ladder {
  struct himeno_rung *rungs;
  int n;
  int partial; /**< a signal ended it in the last of its rungs, or before there were more */
};

/** \brief Runs every kernel that stands on the backend's ladder, and the user's own above them.
 *
 * Collective. STATUS_WRONG when a rung's result is wrong; a rung that cannot run here is passed
 * over and says so. The caller frees \a ladder, also when this fails. */
status_t himeno_ladder(const struct himeno_config *config, struct himeno_choice *choice,
                       const struct verify_value *value, struct himeno_result *result,
                       struct himeno_ladder **ladder);
void himeno_ladder_free(struct himeno_ladder *ladder);

#endif
