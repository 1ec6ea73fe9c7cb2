/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The product C = alpha·op(A)·op(B) + beta·C: its size, how its matrices are stored, and its
 * cost.
 *
 * All matrices are row-major. op(A) is m×k and op(B) k×n; a transposed A is stored as k×m, a
 * transposed B as n×k. A leading dimension is the distance of two stored rows in elements. With
 * beta = 0, C is never read. */
#ifndef GEMM_PROBLEM_H
#define GEMM_PROBLEM_H

#include <stdint.h>

#include "base/status.h"
#include "gemm/types.h"

/** An extent or a leading dimension is at most this: kernels may keep one in 32 bits. Offsets need
 * 64. */
#define GEMM_EXTENT_MAX 2147483647

enum gemm_matrix { GEMM_A, GEMM_B, GEMM_C, GEMM_MATRICES };

struct gemm_problem {
  enum gemm_type type;
  int64_t m, n, k;           /**< each at least 1 */
  int64_t ld[GEMM_MATRICES]; /**< of A, B and C, in elements */
  int trans_a, trans_b;
  float alpha, beta;
};

/** \brief Stored rows and columns of a matrix. */
int64_t gemm_rows(const struct gemm_problem *problem, enum gemm_matrix matrix);
int64_t gemm_columns(const struct gemm_problem *problem, enum gemm_matrix matrix);

/** \brief Elements from the first of a matrix to its last: (rows − 1)·ld + columns. Buffers have no
 * more. */
int64_t gemm_elements(const struct gemm_problem *problem, enum gemm_matrix matrix);
size_t gemm_element_bytes(const struct gemm_problem *problem, enum gemm_matrix matrix);
size_t gemm_bytes(const struct gemm_problem *problem, enum gemm_matrix matrix);

/** \brief 2·m·n·k, by which all rates are reckoned. */
double gemm_flop(const struct gemm_problem *problem);

/** \brief Fills in leading dimensions that are 0 and checks everything: STATUS_USAGE, with one
 * line, for a leading dimension that is too small and for sizes whose bytes overflow. */
status_t gemm_problem_complete(struct gemm_problem *problem);

/** \brief "NN", "NT", "TN", "TT". */
const char *gemm_trans_name(const struct gemm_problem *problem);
extern const char *const gemm_trans_names[4];

/** \brief Reads N or MxNxK into an int64_t[3]. Logs and returns STATUS_USAGE otherwise. */
status_t gemm_size_parse(const char *option, const char *text, void *size);

#endif
