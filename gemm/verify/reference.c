/* SPDX-License-Identifier: MIT */
#include "gemm/verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "gpu/cpu/every_cpu.h"

/* CHAINS elements are compared with a chain of fused multiply-adds if k is at least CHAIN_TERMS.
 * The norm's error is judged if k is at least ERROR_TERMS and C has ELEMENTS. In units of roundoff
 * it is 0.5 to 1 for an emulation, 1.8 for sums in parts of 16 terms, 3 or more for a long one. */
#define CHAINS          32
#define CHAIN_TERMS     64
#define ERROR_TERMS     1024
#define ELEMENTS        256
#define EMULATION_ERROR 1.25
/* Depth and width of a block of b that is used for all rows: half of a small L2 cache. */
#define DEPTH 64
#define WIDTH 256
/* Long sums are divided into parts: at most PARTS_MAX over all blocks, each of at least PART_TERMS
 * terms. */
#define PARTS_MAX  256
#define PART_TERMS 65536

struct gemm_view gemm_view_make(const struct gemm_problem *p, enum gemm_matrix matrix, const void *data,
                                int transposed)
{
  int along_columns = (matrix == GEMM_A ? p->trans_a : p->trans_b) != transposed;
  struct gemm_view view = {.type = p->type, .data = data};
  view.row = along_columns ? 1 : p->ld[matrix];
  view.column = along_columns ? p->ld[matrix] : 1;
  return view;
}

static double element(const struct gemm_view *view, int64_t i, int64_t j)
{
  return (double)gemm_operand_get(view->type, view->data, i * view->row + j * view->column);
}

/* Adds one row's terms of a block to the sums. If \a low is not NULL, it receives the errors of
 * products and sums. Source: Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM J. Sci.
 * Comput. 26, 2005. Operations are rounded as written, so that all versions give the same bits. */
EVERY_CPU("fma")
static void add_terms(const double *a, int64_t depth, const double block[DEPTH][WIDTH], int64_t width,
                      double *restrict sums, double *restrict low, double *restrict magnitudes)
{
  for (int64_t d = 0; low && d < depth; d++)
    for (int64_t w = 0; w < width; w++) {
      double term = a[d] * block[d][w], error;
      sums[w] = gemm_two_sum(sums[w], term, &error);
      low[w] += error + __builtin_fma(a[d], block[d][w], -term);
      magnitudes[w] += fabs(term);
    }
  if (low) return;
  for (int64_t d = 0; d < depth; d++)
    for (int64_t w = 0; w < width; w++) {
      double term = a[d] * block[d][w];
      sums[w] += term;
      magnitudes[w] += fabs(term);
    }
}

static void columns_add(const struct gemm_view *a, const struct gemm_view *b, int64_t first, int64_t k,
                        int64_t j, int64_t width, int64_t n, const int64_t *rows, int64_t n_rows,
                        double *sums, double *low, double *magnitudes)
{
  double block[DEPTH][WIDTH], terms[DEPTH];
  for (int64_t l = first; l < k; l += DEPTH) {
    int64_t depth = k - l < DEPTH ? k - l : DEPTH;
    for (int64_t d = 0; d < depth; d++)
      for (int64_t w = 0; w < width; w++) block[d][w] = element(b, l + d, j + w);
    for (int64_t r = 0; r < n_rows; r++) {
      for (int64_t d = 0; d < depth; d++) terms[d] = element(a, rows[r], l + d);
      add_terms(terms, depth, (const double(*)[WIDTH])block, width, &sums[r * n + j],
                low ? &low[r * n + j] : NULL, &magnitudes[r * n + j]);
    }
  }
}

/* Divides sums of \a terms terms into *parts parts, so that all threads have work if there are few
 * blocks. *parts depends on the sizes, not on the threads; it is 1 if memory is short. Returns
 * memory for the partial sums, or NULL if *parts is 1. */
static double *sums_open(int64_t blocks, int64_t terms, int64_t size, int64_t *parts)
{
  int64_t most = PARTS_MAX / blocks, worth = terms / PART_TERMS;
  *parts = most < worth ? most : worth;
  double *partial = *parts > 1 ? calloc((size_t)(*parts * size), sizeof *partial) : NULL;
  if (!partial) *parts = 1;
  return partial;
}

/* Adds up the partial sums in order. \a low, if not NULL, receives the rounding errors. */
static void sums_close(const double *partial, int64_t parts, int64_t stride, int64_t size, double *sums,
                       double *low)
{
  for (int64_t part = 0; partial && part < parts; part++)
    for (int64_t i = 0; i < size; i++) {
      double error;
      sums[i] = gemm_two_sum(sums[i], partial[part * stride + i], &error);
      if (low) low[i] += error;
    }
}

void gemm_reference_rows(const struct gemm_view *a, const struct gemm_view *b, int64_t k, int64_t n,
                         const int64_t *rows, int64_t n_rows, double *sums, double *low, double *magnitudes)
{
  const int64_t size = n_rows * n, stride = (low ? 3 : 2) * size;
  int64_t parts;
  double *partial = sums_open((n - 1) / WIDTH + 1, k, stride, &parts);
  memset(sums, 0, (size_t)size * sizeof *sums);
  if (low) memset(low, 0, (size_t)size * sizeof *low);
  memset(magnitudes, 0, (size_t)size * sizeof *magnitudes);
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (int64_t part = 0; part < parts; part++)
    for (int64_t j = 0; j < n; j += WIDTH) {
      double *to = partial ? partial + part * stride : sums;
      columns_add(a, b, k * part / parts, k * (part + 1) / parts, j, n - j < WIDTH ? n - j : WIDTH, n, rows,
                  n_rows, to, partial && low ? to + 2 * size : low, partial ? to + size : magnitudes);
    }
  sums_close(partial, parts, stride, size, sums, low);
  sums_close(partial ? partial + size : NULL, parts, stride, size, magnitudes, NULL);
  if (low) sums_close(partial ? partial + 2 * size : NULL, parts, stride, size, low, NULL);
  free(partial);
}

/* Reads along the stored rows in either case; if the view is transposed, it adds up columns. */
static void vector_add(const struct gemm_view *view, int64_t i0, int64_t i1, int64_t first, int64_t end,
                       const double *x, const double *x_low, double *y, double *y_low)
{
  const int64_t inner = view->row == 1 ? 1 : end - first;
  for (int64_t j0 = first; j0 < end; j0 += inner)
    for (int64_t i = i0; i < i1; i++) {
      double sum = y[i], low = y_low ? y_low[i] : 0, error;
      for (int64_t j = j0; j < j0 + inner; j++) {
        double value = element(view, i, j), factor = x ? x[j] : value, term = value * factor;
        if (!y_low) {
          sum += term;
          continue;
        }
        sum = gemm_two_sum(sum, term, &error);
        low += error + fma(value, factor, -term) + (x_low ? value * x_low[j] : 0);
      }
      y[i] = sum;
      if (y_low) y_low[i] = low;
    }
}

void gemm_reference_vector(const struct gemm_view *view, int64_t m, int64_t n, const double *x,
                           const double *x_low, double *y, double *y_low)
{
  const int64_t stride = y_low ? 2 * m : m;
  int64_t parts;
  double *partial = sums_open((m - 1) / WIDTH + 1, n, stride, &parts);
  memset(y, 0, (size_t)m * sizeof *y);
  if (y_low) memset(y_low, 0, (size_t)m * sizeof *y_low);
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t part = 0; part < parts; part++)
    for (int64_t i = 0; i < m; i += WIDTH) {
      double *to = partial ? partial + part * stride : y;
      vector_add(view, i, i + WIDTH < m ? i + WIDTH : m, n * part / parts, n * (part + 1) / parts, x, x_low,
                 to, partial && y_low ? to + m : y_low);
    }
  sums_close(partial, parts, stride, m, y, y_low);
  if (y_low) sums_close(partial ? partial + m : NULL, parts, stride, m, y_low, NULL);
  free(partial);
}

void gemm_reference_norms(const struct gemm_view *view, int64_t m, int64_t n, double *y)
{
  gemm_reference_vector(view, m, n, NULL, NULL, y, NULL);
  for (int64_t i = 0; i < m; i++) y[i] = sqrt(y[i]);
}

const char *const gemm_arithmetic_names[] = {NULL, "native", "emulation"};

enum gemm_arithmetic gemm_reference_arithmetic(const struct gemm_problem *p, const void *a, const void *b,
                                               const void *c, const void *out, double norm_error)
{
  const struct gemm_view left = gemm_view_make(p, GEMM_A, a, 0), right = gemm_view_make(p, GEMM_B, b, 0);
  int equal = 0;
  if (p->type != GEMM_F64 || p->k < CHAIN_TERMS || p->alpha == 0) return GEMM_ARITHMETIC_UNKNOWN;
  for (uint64_t x = 0; x < CHAINS; x++) {
    const int64_t i = (int64_t)(hash_mix(2 * x) % (uint64_t)p->m),
                  j = (int64_t)(hash_mix(2 * x + 1) % (uint64_t)p->n), at = i * p->ld[GEMM_C] + j;
    double sum = 0;
    for (int64_t l = 0; l < p->k; l++) sum = fma(element(&left, i, l), element(&right, l, j), sum);
    sum *= p->alpha;
    if (p->beta != 0) sum = fma(p->beta, ((const double *)c)[at], sum);
    equal += sum == ((const double *)out)[at];
  }
  if (2 * equal >= CHAINS) return GEMM_NATIVE;
  if (p->k < ERROR_TERMS || p->m * p->n < ELEMENTS || !(norm_error >= 0)) return GEMM_ARITHMETIC_UNKNOWN;
  return norm_error < EMULATION_ERROR * gemm_types[p->type].unit_sum ? GEMM_EMULATION : GEMM_NATIVE;
}
