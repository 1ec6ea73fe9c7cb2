/* SPDX-License-Identifier: MIT */
/** \file
 * \brief --soak: blocks in both data sets for hours, every bit of field and coefficients checked, a line a block that survives a kill. */
#ifndef HIMENO_SOAK_SOAK_H
#define HIMENO_SOAK_SOAK_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "himeno/soak/check.h"

/** Corruptions kept for the report; all stand in the log. */
#define SOAK_FOUND_MAX 32

/** One rank's wrong array in one block. */
struct soak_found {
  int block, sweep, first;
  enum himeno_data data;
  struct soak_corruption corruption;
};

struct soak_result {
  double seconds; /**< wall clock */
  int blocks, wrong_blocks;
  int64_t corruptions;
  int n;
  struct soak_found found[SOAK_FOUND_MAX]; /**< on rank 0 */
};

struct himeno_run;

/** \brief Collective, in place of himeno_measure: STATUS_WRONG when a bit was wrong. */
status_t himeno_soak(struct himeno_run *run);

/** \brief "7f3a0b1c at (10, 20, 30), 3 points of a3, must be …, 1 bit differs" into \a text. Returns it. */
const char *soak_corruption_text(const struct soak_corruption *corruption, char *text, size_t size);

json_t *soak_found_json(const struct soak_found *found);

/** \brief The soak's part of the report. Rank 0. */
void soak_text(const struct himeno_run *run, FILE *out);
json_t *soak_json(const struct himeno_run *run);

/** \brief Reads "90", "15m", "8h" or "2d" into a double of seconds. STATUS_USAGE. */
status_t soak_duration_parse(const char *option, const char *text, void *seconds);

#endif
