/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Where points differ, in words, from counts along i, j and k. */
#ifndef HIMENO_VERIFY_PATTERN_H
#define HIMENO_VERIFY_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define PATTERN_TEXT_MAX 400

struct pattern {
  int64_t lo[3], hi[3]; /**< a box of points; hi is outside */
  /** [0] how many differ, [1] how many of them at odd i + j + k, then at each i, each j, each k: of
   * several ranks their sums are the pattern of all */
  int64_t *counts;
  size_t n_counts;
};

status_t pattern_open(const int64_t lo[3], const int64_t hi[3], struct pattern *pattern);
void pattern_close(struct pattern *pattern);

/** \brief A point of the box that differs. */
void pattern_add(struct pattern *pattern, const int64_t at[3]);

/** \brief "all points at the upper edge of j (j = 30)", "all points at every fourth k, from k = 3";
 * what follows no rule is called scattered. */
const char *pattern_text(const struct pattern *pattern, char text[PATTERN_TEXT_MAX]);

#endif
