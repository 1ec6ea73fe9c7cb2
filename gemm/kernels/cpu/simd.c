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

/* Depth of a block; rows of a block of A (192 KiB) and columns of a block of B (4 MiB). */
#define DEPTH   256
#define ROWS    192
#define COLUMNS 4096
#define ALIGN   64

struct simd {
  const struct gemm_micro *micro;
  int threads;
  /** rows of a block of A, a multiple of the tile's; fewer than ROWS if there are many threads */
  int64_t rows;
  float *b; /**< packed block of B, shared */
  float *a; /**< packed blocks of A, one per thread */
};

/** Arguments of a launch. */
struct simd_job {
  const struct gemm_problem *p;
  const struct simd *s;
  const float *a, *b;
  float *c;
};

static int64_t simd_least(int64_t x, int64_t y)
{
  return x < y ? x : y;
}

static int64_t simd_round_up(int64_t x, int64_t step)
{
  return (x + step - 1) / step * step;
}

/* Packs a panel of `width` lines for the micro kernel: its l-th group of elements is element l of
 * each line. Strides in elements: `across` between lines, `along` within a line. */
static void panel_pack(const float *from, int64_t across, int64_t along, int64_t lines, int64_t depth,
                       int64_t width, float *to)
{
  if (lines < width) memset(to, 0, (size_t)(width * depth) * sizeof *to);
  if (across == 1)
    for (int64_t l = 0; l < depth; l++)
      for (int64_t w = 0; w < lines; w++) to[l * width + w] = from[l * along + w];
  else
    for (int64_t w = 0; w < lines; w++)
      for (int64_t l = 0; l < depth; l++) to[l * width + w] = from[w * across + l * along];
}

/* Packs a block of B: the threads divide its panels among them. */
static void b_pack(const struct simd_job *job, int64_t l, int64_t depth, int64_t j, int64_t columns)
{
  int64_t ld = job->p->ld[GEMM_B], width = job->s->micro->columns;
  int64_t across = job->p->trans_b ? ld : 1, along = job->p->trans_b ? 1 : ld;
#pragma omp for schedule(static)
  for (int64_t x = 0; x < columns; x += width)
    panel_pack(job->b + l * along + (j + x) * across, across, along, simd_least(width, columns - x), depth,
               width, job->s->b + x * depth);
}

static void a_pack(const struct simd_job *job, int64_t l, int64_t depth, int64_t i, int64_t rows, float *to)
{
  int64_t ld = job->p->ld[GEMM_A], height = job->s->micro->rows;
  int64_t across = job->p->trans_a ? 1 : ld, along = job->p->trans_a ? ld : 1;
  for (int64_t y = 0; y < rows; y += height)
    panel_pack(job->a + l * along + (i + y) * across, across, along, simd_least(height, rows - y), depth,
               height, to + y * depth);
}

/* The first block's sums replace C, scaled by beta; those of later blocks are added. */
static void tile_store(const struct gemm_problem *p, const float *tile, int64_t stride, int first,
                       int64_t rows, int64_t columns, float *c)
{
  for (int64_t r = 0; r < rows; r++) {
    float *out = c + r * p->ld[GEMM_C];
    const float *sums = tile + r * stride;
    if (first && p->beta == 0)
      for (int64_t j = 0; j < columns; j++) out[j] = p->alpha * sums[j];
    else if (first)
      for (int64_t j = 0; j < columns; j++) out[j] = p->alpha * sums[j] + p->beta * out[j];
    else
      for (int64_t j = 0; j < columns; j++) out[j] += p->alpha * sums[j];
  }
}

static void simd_block_multiply(const struct simd_job *job, const float *a, int64_t l, int64_t depth,
                                int64_t i, int64_t rows, int64_t j, int64_t columns)
{
  const struct gemm_micro *micro = job->s->micro;
  float tile[MICRO_ROWS_MAX * MICRO_COLUMNS_MAX] __attribute__((aligned(ALIGN)));
  for (int64_t x = 0; x < columns; x += micro->columns)
    for (int64_t y = 0; y < rows; y += micro->rows) {
      micro->tile(depth, a + y * depth, job->s->b + x * depth, tile);
      tile_store(job->p, tile, micro->columns, l == 0, simd_least(micro->rows, rows - y),
                 simd_least(micro->columns, columns - x), job->c + (i + y) * job->p->ld[GEMM_C] + j + x);
    }
}

/* Multiplies one block of B by all rows of A; threads take blocks of rows dynamically. */
static void slice_multiply(const struct simd_job *job, int64_t l, int64_t j)
{
  int64_t depth = simd_least(DEPTH, job->p->k - l), columns = simd_least(COLUMNS, job->p->n - j);
  int64_t step = job->s->rows;
  float *a = job->s->a + omp_get_thread_num() * simd_round_up(ROWS, MICRO_ROWS_MAX) * DEPTH;
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

static float *aligned_floats(int64_t n)
{
  void *memory = NULL;
  return posix_memalign(&memory, ALIGN, (size_t)n * sizeof(float)) ? NULL : memory;
}

static status_t simd_open(struct gemm_exec *exec)
{
  const struct gemm_problem *p = &exec->problem;
  struct simd *s = exec->state = calloc(1, sizeof *s);
  if (!s) return log_fail(STATUS_ENVIRONMENT, "out of host memory for kernel simd");
  RETURN_IF_FAILED(gemm_micro_choose(&s->micro));
  s->threads = omp_get_max_threads();
  s->rows = simd_least(simd_round_up((p->m + s->threads - 1) / s->threads, s->micro->rows),
                       ROWS / s->micro->rows * s->micro->rows);
  s->b = aligned_floats(simd_round_up(simd_least(COLUMNS, p->n), MICRO_COLUMNS_MAX) * DEPTH);
  s->a = aligned_floats(s->threads * simd_round_up(ROWS, MICRO_ROWS_MAX) * DEPTH);
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
    .types = GEMM_BIT(GEMM_F32),
    .transposes = 1,
    .ops = &ops,
};
