/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Known values of the named sizes, and of L per rank (-w) on a few ranks, made by the
 * reference kernel (scripts/make-known). */
#ifndef HIMENO_VERIFY_KNOWN_H
#define HIMENO_VERIFY_KNOWN_H

#include "himeno/solver/solver.h"

#define KNOWN_CHECKS 14

struct himeno_known {
  const char *size;
  enum himeno_data data;
  uint64_t coefficients; /**< sum of the twelve constant arrays' checksums */
  /** after exactly so many sweeps, in their order; the rest is zero */
  struct solver_check checks[KNOWN_CHECKS];
};

/** \brief What is known of a grid and data; NULL when it is not in the table. */
const struct himeno_known *himeno_known_find(const int64_t extent[3], enum himeno_data data);

#endif
