/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The product in float64: rows of it, with the magnitudes |A||B| that errors are held
 * against. */
#ifndef GEMM_VERIFY_REFERENCE_H
#define GEMM_VERIFY_REFERENCE_H

#include "gemm/problem.h"

/** op(A) or op(B) in host memory: element (i, j) stands at i·row + j·column. */
struct gemm_view {
  enum gemm_type type;
  const void *data;
  int64_t row, column;
};

/** \brief op(A) or op(B) as its matrix is stored; \a turned gives its transpose. */
struct gemm_view gemm_view_make(const struct gemm_problem *problem, enum gemm_matrix matrix, const void *data,
                                int transposed);

/** \brief For each of the \a n_rows numbers in \a rows: sums[r·n + j] = Σ a(rows[r], l)·b(l, j) and
 * magnitudes[r·n + j] = Σ |a||b|, over k terms. Products of operands are exact in float64. */
void gemm_reference_rows(const struct gemm_view *a, const struct gemm_view *b, int64_t k, int64_t n,
                         const int64_t *rows, int64_t n_rows, double *sums, double *magnitudes);

/** \brief y = view·x in float64, for m rows of n; \a x NULL: of each row the sum of its squares. */
void gemm_reference_vector(const struct gemm_view *view, int64_t m, int64_t n, const double *x, double *y);

/** \brief y[i] = √Σ view(i, j)² for m rows of n: |A||B| is at most the product of a row's of A and
 * a column's of B. */
void gemm_reference_norms(const struct gemm_view *view, int64_t m, int64_t n, double *y);

#endif
