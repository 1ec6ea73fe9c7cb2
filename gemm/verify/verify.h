/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Verifies products against float64, and those of GEMM_F64 against double-double: sums of
 * two doubles, with about 100 bits.
 *
 * There are two bounds. In both, u is the unit roundoff of the sums, and errors grow with √k, as in
 * random rounding (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM
 * J. Sci. Comput. 41, 2019), or with k if sums truncate:
 * - each element: |out − ref| ≤ element_bound · (|alpha| |A||B| + |beta C|), the error that its
 *   terms explain. NaN must be NaN, Inf the same Inf, and no other element may be either;
 * - the whole: ‖out − ref‖ ≤ norm_bound · ‖ref‖ (Frobenius), from 256 elements on, because fewer
 *   are too few for statistics.
 *
 * Small products are compared in full. Of large ones, some rows and columns are compared, and the
 * whole by random vectors of ±1 after Freivalds (1977): E‖(out − ref)·x‖² is ‖out − ref‖², so the
 * norm is estimated without computing ref, and so is the norm of each row. */
#ifndef GEMM_VERIFY_VERIFY_H
#define GEMM_VERIFY_VERIFY_H

#include "gemm/data.h"
#include "gemm/problem.h"

enum gemm_verify { GEMM_VERIFY_AUTO, GEMM_VERIFY_FULL, GEMM_VERIFY_OFF };

enum gemm_verified { GEMM_NOT_VERIFIED, GEMM_VERIFIED_SAMPLED, GEMM_VERIFIED_FULL };

/** How a product of GEMM_F64 was computed. An emulation of float64 multiplies and adds integers. */
enum gemm_arithmetic { GEMM_ARITHMETIC_UNKNOWN, GEMM_NATIVE, GEMM_EMULATION };

struct gemm_bounds {
  double element, norm;
};

struct gemm_check {
  enum gemm_verified how;
  struct gemm_bounds bounds;
  /** largest |out − ref| / (|alpha| |A||B| + |beta C|) among compared elements */
  double element_error;
  double norm_error;   /**< ‖out − ref‖ / ‖ref‖, estimated if sampled */
  int64_t compared;    /**< number of compared elements */
  int64_t wrong;       /**< number of elements beyond their bound */
  int64_t row, column; /**< position of one wrong element */
  int64_t overwritten; /**< number of padding elements between rows of C that were overwritten */
  int norm_wrong;
  int64_t rows_wrong; /**< if sampled: number of rows whose error norm is beyond the bound */
  enum gemm_arithmetic arithmetic;
};

struct gemm_reference;

extern const char *const gemm_verified_names[GEMM_VERIFIED_FULL + 1];
extern const char *const gemm_arithmetic_names[GEMM_EMULATION + 1]; /**< the first is NULL */

/** \brief Returns the bounds for a kernel whose float sums round to nearest or, if \a truncates,
 * toward zero. */
struct gemm_bounds gemm_bounds_of(const struct gemm_problem *problem, int truncates);

/** \brief Returns 1 if the option \a verify leads to a comparison of the whole product. */
int gemm_verify_is_full(const struct gemm_problem *problem, enum gemm_verify verify);

/** \brief Computes the reference data, with all host threads. Keeps pointers to the host matrices
 * \a a, \a b and \a c. */
status_t gemm_reference_open(const struct gemm_problem *problem, enum gemm_verify verify, const void *a,
                             const void *b, const void *c, struct gemm_reference **reference);
void gemm_reference_close(struct gemm_reference *reference);

/** \brief Compares \a out, stored like C, and fills in \a check. Logs an error and returns
 * STATUS_WRONG if an element, the norm or a row is beyond its bound. \a who is the kernel's
 * name. */
status_t gemm_verify(const struct gemm_reference *reference, int truncates, const void *out, const char *who,
                     struct gemm_check *check);

/** \brief Compares \a out, stored like C, bitwise with \a right. If they differ, logs one element
 * and returns STATUS_WRONG. \a who names the kernel and \a what the result, as in "block 3". */
status_t gemm_verify_bits(const struct gemm_reference *reference, const void *right, const void *out,
                          const char *who, const char *what);

/** \brief Compares \a out, C after \a launches products, with \a right, C after one verified
 * product, without requiring bitwise equality. An element may differ from the value computed from
 * \a right by twice its bound per product. For one product the norm is compared too. |A||B| is
 * estimated by its upper bound ‖row‖‖column‖. For several products, NaN, infinities and elements
 * that exceed C's type are not compared. */
status_t gemm_verify_near(const struct gemm_reference *reference, int truncates, int launches,
                          const void *right, const void *out, const char *who, const char *what);

/** op(A) or op(B) in host memory: element (i, j) is at i·row + j·column. */
struct gemm_view {
  enum gemm_type type;
  const void *data;
  int64_t row, column;
};

/** \brief Returns op(A) or op(B) as a view of the stored matrix, or its transpose if
 * \a transposed. */
struct gemm_view gemm_view_make(const struct gemm_problem *problem, enum gemm_matrix matrix, const void *data,
                                int transposed);

/** \brief For each of the \a n_rows indices in \a rows, sets sums[r·n + j] = Σ a(rows[r], l)·b(l,
 * j) and magnitudes[r·n + j] = Σ |a||b|, over k terms. If \a low is NULL, sums are float64, in
 * which products of floats are exact. Otherwise low[r·n + j] is the exact sum less the rounded sum;
 * it is meaningless if the sum is not finite. */
void gemm_reference_rows(const struct gemm_view *a, const struct gemm_view *b, int64_t k, int64_t n,
                         const int64_t *rows, int64_t n_rows, double *sums, double *low, double *magnitudes);

/** \brief Sets y = view·x, for m rows of n elements. If \a x is NULL, y is the sum of squares of
 * each row. x_low and y_low are the low parts of double-double numbers. If x_low is NULL, x is
 * float64; if y_low is NULL, y is rounded to float64. */
void gemm_reference_vector(const struct gemm_view *view, int64_t m, int64_t n, const double *x,
                           const double *x_low, double *y, double *y_low);

/** \brief Returns the rounded sum of a and b, and sets *error to its exact error. Source: Knuth,
 * "The art of computer programming", volume 2, 4.2.2. */
static inline double gemm_two_sum(double a, double b, double *error)
{
  const double sum = a + b, part = sum - a;
  *error = (a - (sum - part)) + (b - part);
  return sum;
}

/** \brief Returns how a product of random numbers was computed. It is native if half of the sampled
 * elements are bitwise equal to a chain of fused multiply-adds. Otherwise the product's error
 * decides: many rounded additions leave several units in the last place, exact additions about half
 * a unit. Returns GEMM_ARITHMETIC_UNKNOWN if there are few terms. */
enum gemm_arithmetic gemm_reference_arithmetic(const struct gemm_problem *problem, const void *a,
                                               const void *b, const void *c, const void *out,
                                               double norm_error);

/** \brief Sets y[i] = √Σ view(i, j)² for m rows of n elements. An element of |A||B| is at most the
 * product of the norms of a row of A and a column of B. */
void gemm_reference_norms(const struct gemm_view *view, int64_t m, int64_t n, double *y);

#endif
