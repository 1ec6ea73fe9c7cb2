/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Explains errors of a user's own kernel: which points, by how much, in which pattern. */
#ifndef HIMENO_VERIFY_WRONG_H
#define HIMENO_VERIFY_WRONG_H

#include "comm/ranks/placement.h"
#include "himeno/solver/solver.h"
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

/** \brief Collective: repeats a few sweeps together with the reference on the CPUs; rank 0 prints
 * the first differences to standard error. */
status_t wrong_explain(const struct solver_config *config, const struct placement *place,
                       struct solver *solver);

/** \brief Returns the number of floats between two values, −0 equal to 0; −1 if one is NaN. */
int64_t wrong_distance(float is, float must_be);

#define PATTERN_TEXT_MAX 400

struct pattern {
  int64_t lo[3], hi[3]; /**< a box of points; hi is exclusive */
  /** [0] the points that differ, [1] those of them with odd i + j + k, then one count per i, per j,
   * per k; the counts of several ranks can be added */
  int64_t *counts;
  size_t n_counts;
};

status_t pattern_open(const int64_t lo[3], const int64_t hi[3], struct pattern *pattern);
void pattern_close(struct pattern *pattern);

/** \brief Counts a point of the box at which the values differ. */
void pattern_add(struct pattern *pattern, const int64_t at[3]);

/** \brief Describes the pattern: "all points at the upper edge of j (j = 30)", "all points at every
 * fourth k, from k = 3". Points without a pattern are called scattered. */
const char *pattern_text(const struct pattern *pattern, char text[PATTERN_TEXT_MAX]);

#endif
