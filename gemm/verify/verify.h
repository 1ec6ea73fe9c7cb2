/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Whether a product is right, against float64.
 *
 * Two bounds, both with u the unit roundoff of the sums and the growth √k of random rounding
 * (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput.
 * 41, 2019), or k where sums truncate:
 * - each element: |out − ref| ≤ element_bound · (|alpha| |A||B| + |beta C|), so no element is wrong
 *   by more than its terms
 *     explain; NaN must be NaN, Inf the same Inf, and nothing else may be either;
 * - the whole: ‖out − ref‖ ≤ norm_bound · ‖ref‖ (Frobenius), from 256 elements on: fewer are no
 *   statistics. Small products are compared in full. Of large ones, rows and columns are, and the
 *   whole by random vectors of ±1 after Freivalds (1977): E‖(out − ref)·x‖² is ‖out − ref‖², so the
 *   norm is estimated without computing ref, and so is each row's. */
#ifndef GEMM_VERIFY_VERIFY_H
#define GEMM_VERIFY_VERIFY_H

#include "gemm/data.h"
#include "gemm/problem.h"

enum gemm_verify { GEMM_VERIFY_AUTO, GEMM_VERIFY_FULL, GEMM_VERIFY_OFF };

/** How a result was compared. */
enum gemm_verified { GEMM_NOT_VERIFIED, GEMM_VERIFIED_SAMPLED, GEMM_VERIFIED_FULL };

struct gemm_bounds {
  double element, norm;
};

struct gemm_check {
  enum gemm_verified how;
  struct gemm_bounds bounds;
  double element_error; /**< worst |out − ref| / (|alpha| |A||B| + |beta C|) of those compared */
  double norm_error;    /**< ‖out − ref‖ / ‖ref‖, estimated where sampled */
  int64_t compared;     /**< elements */
  int64_t wrong;        /**< of those, elements beyond their bound */
  int64_t row, column;  /**< of one that is wrong */
  int64_t overwritten;  /**< elements between rows of C that were written to */
  int norm_wrong;
  int64_t rows_wrong; /**< where sampled: rows whose own norm is beyond the bound */
};

struct gemm_reference;

extern const char *const gemm_verified_names[GEMM_VERIFIED_FULL + 1];

/** \brief Bounds for a problem on a kernel whose float sums round to nearest or (\a truncates)
 * toward zero. */
struct gemm_bounds gemm_bounds_of(const struct gemm_problem *problem, int truncates);

/** \brief Whether all of the product is compared with this option. */
int gemm_verify_is_full(const struct gemm_problem *problem, enum gemm_verify verify);

/** \brief Computes what results are compared with, on all host threads. Host matrices are kept by
 * pointer. */
status_t gemm_reference_open(const struct gemm_problem *problem, enum gemm_verify verify, const void *a,
                             const void *b, const void *c, struct gemm_reference **reference);
void gemm_reference_close(struct gemm_reference *reference);

/** \brief Compares \a out, stored like C, and fills in \a check. STATUS_WRONG, logged with the
 * first element beyond the bounds; \a who names the kernel. */
status_t gemm_verify(const struct gemm_reference *reference, int truncates, const void *out, const char *who,
                     struct gemm_check *check);

/** \brief Whether \a out, stored like C, has the bits of \a right. STATUS_WRONG, logged with how
 * many elements differ and one of them; \a who names the kernel and \a what the result, as in
 * "block 3". */
status_t gemm_verify_bits(const struct gemm_reference *reference, const void *right, const void *out,
                          const char *who, const char *what);

/** \brief Whether each element of \a out, C after \a launches products, lies within two bounds of
 * the value that follows from \a right, C after one verified product, and for one product also the
 * norm: for correct results with other bits. |A||B| is taken as at most ‖row‖‖column‖. For several
 * products, elements that C's type cannot hold or that are NaN or infinite are left out. */
status_t gemm_verify_near(const struct gemm_reference *reference, int truncates, int launches,
                          const void *right, const void *out, const char *who, const char *what);

/** op(A) or op(B) in host memory: element (i, j) is at i·row + j·column. */
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
