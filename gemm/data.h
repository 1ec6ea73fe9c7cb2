/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Initial values of the matrices. */
#ifndef GEMM_DATA_H
#define GEMM_DATA_H

#include "gemm/problem.h"

enum gemm_data {
  /** uniform in [−1, 1), not zeros, which would use less power; 23 or, for GEMM_F64, 52 bits of
   * fraction are random */
  GEMM_RANDOM,
  GEMM_WIDE,   /**< random times powers of two: 2^±20, half types 2^±4 */
  GEMM_SPECIAL /**< random, with a NaN and some infinities in A, B and C */
};

/** Names of enum gemm_data. */
extern const char *const gemm_data_names[GEMM_SPECIAL + 1];

/** The value of C's elements between rows, and of all C if it must not be read: a NaN that no
 * arithmetic produces. */
#define GEMM_POISON_FLOAT  0x7fc0deadu
#define GEMM_POISON_HALF   0x7eadu
#define GEMM_POISON_DOUBLE 0x7ff8dead7ff8deadu

/** Position of a part in a larger matrix: its first stored row and column, and the number of
 * columns of the whole. */
struct gemm_place {
  int64_t row, column, columns;
};

/** \brief Fills a stored matrix; ranks pass different \a seed. Elements between rows are NaN; those
 * of C are poison. If beta is 0, all of C is poison. A part at \a place receives its elements of
 * the whole matrix; NULL: the matrix is whole. */
void gemm_data_fill(const struct gemm_problem *problem, enum gemm_matrix matrix, enum gemm_data data,
                    uint64_t seed, const struct gemm_place *place, void *host);

/** \brief Whether element \a index of C is still poison, bit for bit. */
int gemm_is_poison(enum gemm_type type, const void *c, int64_t index);

#endif
