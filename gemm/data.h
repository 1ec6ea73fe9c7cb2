/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Initial values of the matrices. */
#ifndef GEMM_DATA_H
#define GEMM_DATA_H

#include "gemm/problem.h"

enum gemm_data {
  /** uniform in [−1, 1) in steps of 2^−23, or 2^−52 for GEMM_F64 */
  GEMM_RANDOM,
  GEMM_WIDE,   /**< random, times powers of two up to 2^±20, or up to 2^±4 for float16 */
  GEMM_SPECIAL /**< random, with one NaN in A and one in C, and some infinities in A, B and C */
};

extern const char *const gemm_data_names[GEMM_SPECIAL + 1];

/** Bits of a NaN that no arithmetic produces. They fill the padding between the rows of C, and all
 * of C if beta is 0. */
#define GEMM_POISON_FLOAT  0x7fc0deadu
#define GEMM_POISON_HALF   0x7eadu
#define GEMM_POISON_DOUBLE 0x7ff8dead7ff8deadu

/** Position of a part in a larger matrix: its first stored row and column, and the number of
 * columns of the larger matrix. */
struct gemm_place {
  int64_t row, column, columns;
};

/** \brief Fills a stored matrix. The padding between rows is NaN; the padding of C is poison. If
 * beta is 0, all of C is poison. If \a place is not NULL, \a host is a part of a larger matrix and
 * gets the elements at that place; otherwise it is the whole matrix. */
void gemm_data_fill(const struct gemm_problem *problem, enum gemm_matrix matrix, enum gemm_data data,
                    uint64_t seed, const struct gemm_place *place, void *host);

/** \brief Returns 1 if element \a index of C still has all bits of the poison. */
int gemm_is_poison(enum gemm_type type, const void *c, int64_t index);

#endif
