/* SPDX-License-Identifier: MIT */
/* Reordered loops in blocks: a block of B stays in the L2 cache while all rows of A are multiplied
 * by it. Each row of the block is read once for four rows of sums, which are in the L1 cache. The
 * compiler generates the code, for any machine. */
#include "gemm/kernels/cpu/cpu_gemm.h"

#define DEPTH 128
#define WIDTH 512
#define ROWS  4

/* Adds the products of up to ROWS rows of A and one block of B to \a sums. */
static void rows_add(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t rows, int64_t depth,
                     int64_t width, float sums[ROWS][WIDTH])
{
  for (int64_t l = 0; l < depth; l++)
    for (int64_t r = 0; r < rows; r++) {
      float factor = a[r * lda + l];
      for (int64_t j = 0; j < width; j++) sums[r][j] += factor * b[l * ldb + j];
    }
}

/* Stores alpha·sums + beta·C for the first block of k; for later blocks adds alpha·sums to C. */
static void rows_store(const struct gemm_problem *p, int first, int64_t rows, int64_t width,
                       float sums[ROWS][WIDTH], float *c)
{
  const float alpha = (float)p->alpha, beta = (float)p->beta;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < width; j++) {
      float *out = &c[r * p->ld[GEMM_C] + j], before = 0;
      if (!first)
        before = *out;
      else if (p->beta != 0)
        before = beta * *out;
      *out = alpha * sums[r][j] + before;
    }
}

static void blocked_block_multiply(const struct gemm_problem *p, const float *a, const float *b, float *c,
                                   int64_t l, int64_t j)
{
  int64_t depth = p->k - l < DEPTH ? p->k - l : DEPTH, width = p->n - j < WIDTH ? p->n - j : WIDTH;
#pragma omp for schedule(static)
  for (int64_t i = 0; i < p->m; i += ROWS) {
    int64_t rows = p->m - i < ROWS ? p->m - i : ROWS;
    float sums[ROWS][WIDTH] = {{0}};
    rows_add(a + i * p->ld[GEMM_A] + l, p->ld[GEMM_A], b + l * p->ld[GEMM_B] + j, p->ld[GEMM_B], rows, depth,
             width, sums);
    rows_store(p, l == 0, rows, width, sums, c + i * p->ld[GEMM_C] + j);
  }
}

static status_t blocked_launch(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *o)
{
  const struct gemm_problem *p = &exec->problem;
  (void)queue;
#pragma omp parallel
  for (int64_t j = 0; j < p->n; j += WIDTH)
    for (int64_t l = 0; l < p->k; l += DEPTH)
      blocked_block_multiply(p, o->a.handle, o->b.handle, o->c.handle, l, j);
  return STATUS_OK;
}

static status_t blocked_open(struct gemm_exec *exec)
{
  struct gemm_blocks *b = &exec->blocks;
  if (b->group_n > exec->problem.n) b->group_n = b->item_n = (int)exec->problem.n;
  if (b->group_k > exec->problem.k) b->group_k = (int)exec->problem.k;
  return STATUS_OK;
}

static const struct gemm_ops ops = {.open = blocked_open, .launch = blocked_launch};

const struct gemm_kernel gemm_cpu_blocked = {
    .name = "blocked",
    .step = "keep a block of B in the cache; each of its rows is used for several rows of C",
    .rung = 2,
    .types = GEMM_BIT(GEMM_F32),
    GEMM_BLOCKS(
        {.group_m = ROWS, .group_n = WIDTH, .group_k = DEPTH, .item_m = ROWS, .item_n = WIDTH, .stages = 1}),
    .ops = &ops,
};
