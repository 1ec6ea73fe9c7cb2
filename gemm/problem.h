/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The product C = alpha·op(A)·op(B) + beta·C: its size, the storage of its matrices, and its
 * cost.
 *
 * All matrices are row-major. op(A) is m×k and op(B) k×n; a transposed A is stored as k×m, a
 * transposed B as n×k. A leading dimension is the distance between stored rows in elements. If beta
 * is 0, C is never read. */
#ifndef GEMM_PROBLEM_H
#define GEMM_PROBLEM_H

#include <stdint.h>

#include "base/status.h"
#include "gemm/types.h"

/** Upper limit of extents and leading dimensions, so that kernels may store each in 32 bits.
 * Offsets need 64 bits. */
#define GEMM_EXTENT_MAX 2147483647

enum gemm_matrix { GEMM_A, GEMM_B, GEMM_C, GEMM_MATRICES };

struct gemm_problem {
  enum gemm_type type;
  int64_t m, n, k;           /**< each at least 1 */
  int64_t ld[GEMM_MATRICES]; /**< leading dimensions of A, B and C, in elements */
  int trans_a, trans_b;
  double alpha, beta; /**< float values, unless the type is GEMM_F64 */
};

/** \brief Return the numbers of stored rows and columns of a matrix. */
int64_t gemm_rows(const struct gemm_problem *problem, enum gemm_matrix matrix);
int64_t gemm_columns(const struct gemm_problem *problem, enum gemm_matrix matrix);

/** \brief Returns the number of elements in a matrix's buffer: (rows − 1)·ld + columns. */
int64_t gemm_elements(const struct gemm_problem *problem, enum gemm_matrix matrix);
size_t gemm_element_bytes(const struct gemm_problem *problem, enum gemm_matrix matrix);
size_t gemm_bytes(const struct gemm_problem *problem, enum gemm_matrix matrix);

/** \brief Returns 2·m·n·k, the number of operations for all rates. */
double gemm_flop(const struct gemm_problem *problem);

/** \brief Sets leading dimensions that are 0 to the length of a stored row. Logs an error and
 * returns STATUS_USAGE if a leading dimension is too small or the size in bytes overflows. */
status_t gemm_problem_complete(struct gemm_problem *problem);

/** \brief Returns the storage of A and B: "NN", "NT", "TN" or "TT". */
const char *gemm_trans_name(const struct gemm_problem *problem);
extern const char *const gemm_trans_names[4];

/** \brief Parses "N" or "MxNxK" into an int64_t[3]. Logs an error and returns STATUS_USAGE for any
 * other text. */
status_t gemm_size_parse(const char *option, const char *text, void *size);

#endif
