/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Known values of the named sizes, made by the reference kernel (scripts/make-known). */
#ifndef HIMENO_KNOWN_H
#define HIMENO_KNOWN_H

#include <stdint.h>

#include "himeno/problem.h"

struct himeno_known {
  const char *size;
  enum himeno_data data;
  int sweeps;
  double gosa;       /**< of the last sweep */
  uint64_t checksum; /**< of the field after exactly that many sweeps */
};

/** \brief The value for a grid, data and number of sweeps; NULL when it is not in the table. */
const struct himeno_known *himeno_known_find(const int64_t extent[3], enum himeno_data data, int sweeps);

/** \brief Whether the grid is in the table; then the sum of its twelve constant arrays'
 * checksums. */
int himeno_known_coefficients(const int64_t extent[3], enum himeno_data data, uint64_t *sum);

#endif
