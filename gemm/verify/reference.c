/* SPDX-License-Identifier: MIT */
#include "gemm/verify/verify.h"

#include <math.h>
#include <string.h>

/* A block of b that is used for all rows: half of a small L2 cache. */
#define DEPTH 64
#define WIDTH 256

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

/* One row's terms of a block. The loop is the compiler's to vectorise, once an instruction set. */
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

static void columns_add(const struct gemm_view *a, const struct gemm_view *b, int64_t k, int64_t j,
                        int64_t width, int64_t n, const int64_t *rows, int64_t n_rows, double *sums,
                        double *magnitudes)
{
  double block[DEPTH][WIDTH], terms[DEPTH];
  terms_function add = terms_choose();
  for (int64_t l = 0; l < k; l += DEPTH) {
    int64_t depth = k - l < DEPTH ? k - l : DEPTH;
    for (int64_t d = 0; d < depth; d++)
      for (int64_t w = 0; w < width; w++) block[d][w] = element(b, l + d, j + w);
    for (int64_t r = 0; r < n_rows; r++) {
      for (int64_t d = 0; d < depth; d++) terms[d] = element(a, rows[r], l + d);
      add(terms, depth, (const double(*)[WIDTH])block, width, &sums[r * n + j], &magnitudes[r * n + j]);
    }
  }
}

void gemm_reference_rows(const struct gemm_view *a, const struct gemm_view *b, int64_t k, int64_t n,
                         const int64_t *rows, int64_t n_rows, double *sums, double *magnitudes)
{
  memset(sums, 0, (size_t)(n_rows * n) * sizeof *sums);
  memset(magnitudes, 0, (size_t)(n_rows * n) * sizeof *magnitudes);
#pragma omp parallel for schedule(dynamic)
  for (int64_t j = 0; j < n; j += WIDTH)
    columns_add(a, b, k, j, n - j < WIDTH ? n - j : WIDTH, n, rows, n_rows, sums, magnitudes);
}

void gemm_reference_vector(const struct gemm_view *view, int64_t m, int64_t n, const double *x, double *y)
{
  /* Along the stored rows in both cases: a turned view adds columns up. */
  const int64_t inner = view->row == 1 ? 1 : n;
#pragma omp parallel for schedule(static)
  for (int64_t i0 = 0; i0 < m; i0 += WIDTH) {
    int64_t end = i0 + WIDTH < m ? i0 + WIDTH : m;
    for (int64_t i = i0; i < end; i++) y[i] = 0;
    for (int64_t j0 = 0; j0 < n; j0 += inner)
      for (int64_t i = i0; i < end; i++) {
        double sum = y[i];
        for (int64_t j = j0; j < j0 + inner; j++) {
          double value = element(view, i, j);
          sum += value * (x ? x[j] : value);
        }
        y[i] = sum;
      }
  }
}

void gemm_reference_norms(const struct gemm_view *view, int64_t m, int64_t n, double *y)
{
  gemm_reference_vector(view, m, n, NULL, y);
  for (int64_t i = 0; i < m; i++) y[i] = sqrt(y[i]);
}
