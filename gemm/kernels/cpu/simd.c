/* SPDX-License-Identifier: MIT */
/* Tiles of C in vector registers, fed from packed panels: a panel of B stays in the L1 cache, a
 * block of A in the L2, and a block of B, which all threads share, in the L3. Packing also resolves
 * transpositions and pads panels with zeros, whose products are not stored. Source: Goto and van de
 * Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34, 2008. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/openmp.h"
#include "gemm/kernels/cpu/cpu_gemm.h"
#include "gemm/kernels/cpu/micro.h"

/* Sizes of blocks of A and B: both have DEPTH steps of k; a block of A has ROWS rows (192 KiB of
 * floats), a block of B has COLUMNS columns (4 MiB). */
#define DEPTH   256
#define ROWS    192
#define COLUMNS 4096
#define ALIGN   64

struct simd {
  const struct gemm_micro *micro;
  int threads;
  /** rows per block of A: a multiple of a tile's rows, less than ROWS if there are many threads */
  int64_t rows;
  int64_t bytes; /**< bytes per element */
  char *b;       /**< packed block of B, shared */
  char *a;       /**< packed blocks of A, one per thread */
};

struct simd_job {
  const struct gemm_problem *p;
  const struct simd *s;
  const char *a, *b;
  char *c;
};

static int64_t simd_least(int64_t x, int64_t y)
{
  return x < y ? x : y;
}

static int64_t simd_round_up(int64_t x, int64_t step)
{
  return (x + step - 1) / step * step;
}

/* Packs a panel of `width` lines (rows of A or columns of B) for the micro kernel: element 0 of all
 * lines, then element 1, and so on. In elements, `across` is the stride between lines, and `along`
 * the stride within a line. */
#define PANEL_PACK(number)                                                                                   \
  static void panel_pack_##number(const number *from, int64_t across, int64_t along, int64_t lines,          \
                                  int64_t depth, int64_t width, number *to)                                  \
  {                                                                                                          \
    if (lines < width) memset(to, 0, (size_t)(width * depth) * sizeof *to);                                  \
    if (across == 1)                                                                                         \
      for (int64_t l = 0; l < depth; l++)                                                                    \
        for (int64_t w = 0; w < lines; w++) to[l * width + w] = from[l * along + w];                         \
    else                                                                                                     \
      for (int64_t w = 0; w < lines; w++)                                                                    \
        for (int64_t l = 0; l < depth; l++) to[l * width + w] = from[w * across + l * along];                \
  }
PANEL_PACK(float)
PANEL_PACK(double)

static void panel_pack(const struct simd_job *job, const void *from, int64_t across, int64_t along,
                       int64_t lines, int64_t depth, int64_t width, void *to)
{
  if (job->p->type == GEMM_F64)
    panel_pack_double(from, across, along, lines, depth, width, to);
  else
    panel_pack_float(from, across, along, lines, depth, width, to);
}

/* Packs a block of B: the threads divide its panels among them. */
static void b_pack(const struct simd_job *job, int64_t l, int64_t depth, int64_t j, int64_t columns)
{
  int64_t ld = job->p->ld[GEMM_B], width = job->s->micro->columns;
  int64_t across = job->p->trans_b ? ld : 1, along = job->p->trans_b ? 1 : ld;
#pragma omp for schedule(static)
  for (int64_t x = 0; x < columns; x += width)
    panel_pack(job, job->b + (l * along + (j + x) * across) * job->s->bytes, across, along,
               simd_least(width, columns - x), depth, width, job->s->b + x * depth * job->s->bytes);
}

static void a_pack(const struct simd_job *job, int64_t l, int64_t depth, int64_t i, int64_t rows, char *to)
{
  int64_t ld = job->p->ld[GEMM_A], height = job->s->micro->rows;
  int64_t across = job->p->trans_a ? 1 : ld, along = job->p->trans_a ? ld : 1;
  for (int64_t y = 0; y < rows; y += height)
    panel_pack(job, job->a + (l * along + (i + y) * across) * job->s->bytes, across, along,
               simd_least(height, rows - y), depth, height, to + y * depth * job->s->bytes);
}

/* Stores alpha·sums + beta·C for the first block of k; for later blocks adds alpha·sums to C. */
#define TILE_STORE(number)                                                                                   \
  static void tile_store_##number(const struct gemm_problem *p, const number *tile, int64_t stride,          \
                                  int first, int64_t rows, int64_t columns, number *c)                       \
  {                                                                                                          \
    const number alpha = (number)p->alpha, beta = (number)p->beta;                                           \
    for (int64_t r = 0; r < rows; r++) {                                                                     \
      number *out = c + r * p->ld[GEMM_C];                                                                   \
      const number *sums = tile + r * stride;                                                                \
      if (first && beta == 0)                                                                                \
        for (int64_t j = 0; j < columns; j++) out[j] = alpha * sums[j];                                      \
      else if (first)                                                                                        \
        for (int64_t j = 0; j < columns; j++) out[j] = alpha * sums[j] + beta * out[j];                      \
      else                                                                                                   \
        for (int64_t j = 0; j < columns; j++) out[j] += alpha * sums[j];                                     \
    }                                                                                                        \
  }
TILE_STORE(float)
TILE_STORE(double)

static void simd_block_multiply(const struct simd_job *job, const char *a, int64_t l, int64_t depth,
                                int64_t i, int64_t rows, int64_t j, int64_t columns)
{
  const struct gemm_micro *micro = job->s->micro;
  const int64_t bytes = job->s->bytes, ld = job->p->ld[GEMM_C];
  double tile[MICRO_ROWS_MAX * MICRO_COLUMNS_MAX] __attribute__((aligned(ALIGN)));
  for (int64_t x = 0; x < columns; x += micro->columns)
    for (int64_t y = 0; y < rows; y += micro->rows) {
      const int64_t down = simd_least(micro->rows, rows - y),
                    across = simd_least(micro->columns, columns - x);
      void *c = job->c + ((i + y) * ld + j + x) * bytes;
      micro->tile(depth, a + y * depth * bytes, job->s->b + x * depth * bytes, tile);
      if (job->p->type == GEMM_F64)
        tile_store_double(job->p, tile, micro->columns, l == 0, down, across, c);
      else
        tile_store_float(job->p, (const float *)tile, micro->columns, l == 0, down, across, c);
    }
}

/* Multiplies one block of B by all rows of A; threads take blocks of rows dynamically. */
static void slice_multiply(const struct simd_job *job, int64_t l, int64_t j)
{
  int64_t depth = simd_least(DEPTH, job->p->k - l), columns = simd_least(COLUMNS, job->p->n - j);
  int64_t step = job->s->rows;
  char *a = job->s->a + omp_get_thread_num() * simd_round_up(ROWS, MICRO_ROWS_MAX) * DEPTH * job->s->bytes;
  b_pack(job, l, depth, j, columns);
#pragma omp for schedule(dynamic)
  for (int64_t i = 0; i < job->p->m; i += step) {
    int64_t rows = simd_least(step, job->p->m - i);
    a_pack(job, l, depth, i, rows, a);
    simd_block_multiply(job, a, l, depth, i, rows, j, columns);
  }
}

static status_t simd_launch(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *o)
{
  const struct gemm_problem *p = &exec->problem;
  struct simd *s = exec->state;
  const struct simd_job job = {.p = p, .s = s, .a = o->a.handle, .b = o->b.handle, .c = o->c.handle};
  (void)queue;
#pragma omp parallel num_threads(s->threads)
  for (int64_t j = 0; j < p->n; j += COLUMNS)
    for (int64_t l = 0; l < p->k; l += DEPTH) slice_multiply(&job, l, j);
  return STATUS_OK;
}

static char *aligned_bytes(int64_t n)
{
  void *memory = NULL;
  return posix_memalign(&memory, ALIGN, (size_t)n) ? NULL : memory;
}

static status_t simd_open(struct gemm_exec *exec)
{
  const struct gemm_problem *p = &exec->problem;
  struct simd *s = exec->state = calloc(1, sizeof *s);
  if (!s) return log_fail(STATUS_ENVIRONMENT, "out of host memory for kernel simd");
  RETURN_IF_FAILED(gemm_micro_choose(p->type, &s->micro));
  s->threads = omp_get_max_threads();
  s->bytes = (int64_t)gemm_element_bytes(p, GEMM_A);
  s->rows = simd_least(simd_round_up((p->m + s->threads - 1) / s->threads, s->micro->rows),
                       ROWS / s->micro->rows * s->micro->rows);
  s->b = aligned_bytes(simd_round_up(simd_least(COLUMNS, p->n), MICRO_COLUMNS_MAX) * DEPTH * s->bytes);
  s->a = aligned_bytes(s->threads * simd_round_up(ROWS, MICRO_ROWS_MAX) * DEPTH * s->bytes);
  if (!s->a || !s->b) return log_fail(STATUS_ENVIRONMENT, "out of host memory for packed panels");
  exec->blocks = (struct gemm_blocks){.group_m = (int)s->rows,
                                      .group_n = (int)simd_least(COLUMNS, p->n),
                                      .group_k = (int)simd_least(DEPTH, p->k),
                                      .item_m = s->micro->rows,
                                      .item_n = s->micro->columns,
                                      .stages = 1};
  return STATUS_OK;
}

static void simd_close(struct gemm_exec *exec)
{
  struct simd *s = exec->state;
  if (!s) return;
  free(s->a);
  free(s->b);
  free(s);
}

static void simd_resources(const struct gemm_exec *exec, struct gemm_resources *r)
{
  const struct simd *s = exec->state;
  r->threads = s->threads;
}

static const struct gemm_ops ops = {
    .open = simd_open, .close = simd_close, .launch = simd_launch, .resources = simd_resources};

const struct gemm_kernel gemm_cpu_simd = {
    .name = "simd",
    .step = "tiles of C in vector registers, A and B packed for the caches",
    .rung = 3,
    .types = GEMM_BIT(GEMM_F32) | GEMM_BIT(GEMM_F64),
    .transposes = 1,
    .ops = &ops,
};
