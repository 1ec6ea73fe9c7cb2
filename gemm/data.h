/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What the matrices hold before a product. */
#ifndef GEMM_DATA_H
#define GEMM_DATA_H

#include "gemm/problem.h"

enum gemm_data {
  GEMM_RANDOM, /**< even in [−1, 1): never zeros, whose bits switch no transistors */
  GEMM_WIDE,   /**< the same times powers of two over many magnitudes: 2^±20, half types 2^±4 */
  GEMM_SPECIAL /**< random, with a NaN and some infinities in A, B and C */
};

/** Names, by enum gemm_data. */
extern const char *const gemm_data_names[GEMM_SPECIAL + 1];

/** What stands behind the rows of C, and in C where it must not be read: a NaN that no arithmetic
 * makes. */
#define GEMM_POISON_FLOAT 0x7fc0deadu
#define GEMM_POISON_HALF  0x7eadu

/** Where a matrix that is a part of a larger one begins in it: stored row and column, and how many
 * columns that has. */
struct gemm_place {
  int64_t row, column, columns;
};

/** \brief Fills a stored matrix; \a seed tells ranks apart. What lies between rows is NaN, poison
 * in C; C is all poison when beta is 0. A part, at \a place, gets what it has in the whole; NULL:
 * it is the whole. */
void gemm_data_fill(const struct gemm_problem *problem, enum gemm_matrix matrix, enum gemm_data data,
                    uint64_t seed, const struct gemm_place *place, void *host);

/** \brief Whether element \a index of C still is poison, bit for bit. */
int gemm_is_poison(enum gemm_type type, const void *c, int64_t index);

#endif
