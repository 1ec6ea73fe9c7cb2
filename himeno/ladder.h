/* SPDX-License-Identifier: MIT */
/** \file
 * \brief --ladder: the kernels one after the other, and what each step gains. */
#ifndef HIMENO_LADDER_H
#define HIMENO_LADDER_H

#include <jansson.h>
#include <stdio.h>

#include "himeno/run.h"

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

/** \brief Runs every kernel that stands on the backend's ladder, and the user's own above them. Collective. STATUS_WRONG when a
 * rung's result is wrong; a rung that cannot run here is passed over and says so. */
status_t himeno_ladder(struct himeno_run *run, struct verify_value *value);
void himeno_ladder_free(struct himeno_run *run);

/** \brief The table, rank 0 only. */
void himeno_ladder_text(const struct himeno_run *run, FILE *out);

/** \brief The document of doc/ladder.schema.json; NULL when memory ran out. */
json_t *himeno_ladder_json(const struct himeno_run *run);

#endif
