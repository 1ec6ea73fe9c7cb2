/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Initial values of the matrices. */
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

/** Value of C between its rows, and of all of C if it must not be read: a NaN that no arithmetic
 * produces. */
#define GEMM_POISON_FLOAT 0x7fc0deadu
#define GEMM_POISON_HALF  0x7eadu

/** Place of a part in a larger matrix: its first stored row and column, and the columns of the
 * whole. */
struct gemm_place {
  int64_t row, column, columns;
};

/** \brief Fills a stored matrix; \a seed distinguishes ranks. Elements between rows are NaN, in C
 * poison; C is all poison when beta is 0. A part, at \a place, gets its elements of the whole;
 * NULL: it is the whole. */
void gemm_data_fill(const struct gemm_problem *problem, enum gemm_matrix matrix, enum gemm_data data,
                    uint64_t seed, const struct gemm_place *place, void *host);

/** \brief Whether element \a index of C still is poison, bit for bit. */
int gemm_is_poison(enum gemm_type type, const void *c, int64_t index);

#endif
