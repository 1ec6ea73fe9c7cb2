/* SPDX-License-Identifier: MIT */
#include "gemm/verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A block of b that is used for all rows: half of a small L2 cache. */
#define DEPTH 64
#define WIDTH 256
/* Limits for parts of long sums: most parts over all blocks, and fewest terms per part. */
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

/* Adds one row's terms of a block. The compiler vectorises the loop, once per instruction set. */
static inline __attribute__((always_inline)) void add_terms(const double *a, int64_t depth,
                                                            const double block[DEPTH][WIDTH], int64_t width,
                                                            double *restrict sums,
                                                            double *restrict magnitudes)
{
  for (int64_t d = 0; d < depth; d++)
    for (int64_t w = 0; w < width; w++) {
      double term = a[d] * block[d][w];
      sums[w] += term;
      magnitudes[w] += fabs(term);
    }
}

typedef void (*terms_function)(const double *a, int64_t depth, const double block[DEPTH][WIDTH],
                               int64_t width, double *restrict sums, double *restrict magnitudes);

static void terms_generic(const double *a, int64_t depth, const double block[DEPTH][WIDTH], int64_t width,
                          double *restrict sums, double *restrict magnitudes)
{
  add_terms(a, depth, block, width, sums, magnitudes);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void terms_avx2(const double *a, int64_t depth,
                                                       const double block[DEPTH][WIDTH], int64_t width,
                                                       double *restrict sums, double *restrict magnitudes)
{
  add_terms(a, depth, block, width, sums, magnitudes);
}

__attribute__((target("avx512f"))) static void terms_avx512(const double *a, int64_t depth,
                                                            const double block[DEPTH][WIDTH], int64_t width,
                                                            double *restrict sums,
                                                            double *restrict magnitudes)
{
  add_terms(a, depth, block, width, sums, magnitudes);
}
#endif

static terms_function terms_choose(void)
{
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return terms_avx512;
  if (__builtin_cpu_supports("avx2")) return terms_avx2;
#endif
  return terms_generic;
}

static void columns_add(const struct gemm_view *a, const struct gemm_view *b, int64_t first, int64_t k,
                        int64_t j, int64_t width, int64_t n, const int64_t *rows, int64_t n_rows,
                        double *sums, double *magnitudes)
{
  double block[DEPTH][WIDTH], terms[DEPTH];
  terms_function add = terms_choose();
  for (int64_t l = first; l < k; l += DEPTH) {
    int64_t depth = k - l < DEPTH ? k - l : DEPTH;
    for (int64_t d = 0; d < depth; d++)
      for (int64_t w = 0; w < width; w++) block[d][w] = element(b, l + d, j + w);
    for (int64_t r = 0; r < n_rows; r++) {
      for (int64_t d = 0; d < depth; d++) terms[d] = element(a, rows[r], l + d);
      add(terms, depth, (const double(*)[WIDTH])block, width, &sums[r * n + j], &magnitudes[r * n + j]);
    }
  }
}

/* Divides sums of \a terms terms into parts, so that all threads have work if there are few blocks
 * of sums. The number depends only on the sizes. NULL: one part, or too little memory for more. */
static double *sums_open(int64_t blocks, int64_t terms, int64_t size, int64_t *parts)
{
  int64_t most = PARTS_MAX / blocks, worth = terms / PART_TERMS;
  *parts = most < worth ? most : worth;
  double *partial = *parts > 1 ? calloc((size_t)(*parts * size), sizeof *partial) : NULL;
  if (!partial) *parts = 1;
  return partial;
}

/* Adds up the parts in order. */
static void sums_close(double *partial, int64_t parts, int64_t stride, int64_t size, double *sums)
{
  for (int64_t part = 0; partial && part < parts; part++)
    for (int64_t i = 0; i < size; i++) sums[i] += partial[part * stride + i];
}

void gemm_reference_rows(const struct gemm_view *a, const struct gemm_view *b, int64_t k, int64_t n,
                         const int64_t *rows, int64_t n_rows, double *sums, double *magnitudes)
{
  const int64_t size = n_rows * n;
  int64_t parts;
  double *partial = sums_open((n - 1) / WIDTH + 1, k, 2 * size, &parts);
  memset(sums, 0, (size_t)size * sizeof *sums);
  memset(magnitudes, 0, (size_t)size * sizeof *magnitudes);
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (int64_t part = 0; part < parts; part++)
    for (int64_t j = 0; j < n; j += WIDTH) {
      double *to = partial ? partial + 2 * part * size : sums;
      columns_add(a, b, k * part / parts, k * (part + 1) / parts, j, n - j < WIDTH ? n - j : WIDTH, n, rows,
                  n_rows, to, partial ? to + size : magnitudes);
    }
  sums_close(partial, parts, 2 * size, size, sums);
  sums_close(partial ? partial + size : NULL, parts, 2 * size, size, magnitudes);
  free(partial);
}

/* Runs along the stored rows in both cases: for a transposed view it adds up columns. */
static void vector_add(const struct gemm_view *view, int64_t i0, int64_t i1, int64_t first, int64_t end,
                       const double *x, double *y)
{
  const int64_t inner = view->row == 1 ? 1 : end - first;
  for (int64_t j0 = first; j0 < end; j0 += inner)
    for (int64_t i = i0; i < i1; i++) {
      double sum = y[i];
      for (int64_t j = j0; j < j0 + inner; j++) {
        double value = element(view, i, j);
        sum += value * (x ? x[j] : value);
      }
      y[i] = sum;
    }
}

void gemm_reference_vector(const struct gemm_view *view, int64_t m, int64_t n, const double *x, double *y)
{
  int64_t parts;
  double *partial = sums_open((m - 1) / WIDTH + 1, n, m, &parts);
  memset(y, 0, (size_t)m * sizeof *y);
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t part = 0; part < parts; part++)
    for (int64_t i = 0; i < m; i += WIDTH)
      vector_add(view, i, i + WIDTH < m ? i + WIDTH : m, n * part / parts, n * (part + 1) / parts, x,
                 partial ? partial + part * m : y);
  sums_close(partial, parts, m, m, y);
  free(partial);
}

void gemm_reference_norms(const struct gemm_view *view, int64_t m, int64_t n, double *y)
{
  gemm_reference_vector(view, m, n, NULL, y);
  for (int64_t i = 0; i < m; i++) y[i] = sqrt(y[i]);
}
