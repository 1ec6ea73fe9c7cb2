/* SPDX-License-Identifier: MIT */
/* In step m of a pass level 1 (the first sweep) is at plane lo + m, level 2 two planes behind it, and so on: then all that a
 * level reads of the rows next door was made a step before, and a thread has to wait for its two neighbours once a step. Planes
 * of the levels between p and out stand in rings. Rows are taken in blocks, so that what a thread reads again lies in its own
 * cache; a block and the next both compute the rows that they share.
 * Source of the scheme: G. Wellein et al., "Efficient temporal blocking for stencil computations by multicore-aware wavefront
 * parallelization", COMPSAC 2009. */
#include "himeno/cpu/wavefront.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

#define LAG   2  /* planes between two levels */
#define RING  4  /* a plane is read up to LAG + 1 steps after it was made */
#define LINE  16 /* floats */
#define SPINS 1000
/* How far coefficients that wait may exceed a core's second cache, since narrower blocks compute more rows twice: on 16 cores
 * with 2 MB each 0.75 was 4% and 16% slower for two and four sweeps. And the cache's size where the system does not tell. */
#define CACHE_SHARE 1.5
#define CACHE_BYTES (1 << 20)

struct worker {
  int64_t done; /* steps, of all passes */
  double gosa[CPU_WAVEFRONT_SWEEPS];
  char apart[128 - (1 + CPU_WAVEFRONT_SWEEPS) % 16 * 8];
};

struct cpu_wavefront {
  struct layout layout;
  const struct cpu_simd *simd;
  int sweeps, threads;
  double cache;          /* bytes a thread */
  float *memory, *rings; /* (sweeps − 1) · RING planes, and a line on each side, since lines are read whole */
  int64_t done;          /* steps of all passes so far */
  struct worker *workers;
};

/* HIMENO_CPU_CACHE in the environment, in bytes, is for tests: a small one makes many blocks. */
static double cache_bytes(void)
{
  const char *text = getenv("HIMENO_CPU_CACHE");
  long bytes = text ? strtol(text, NULL, 10) : sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? (double)bytes : CACHE_BYTES;
}

status_t cpu_wavefront_open(const struct layout *layout, const struct cpu_simd *simd, int sweeps, int threads,
                            struct cpu_wavefront **wavefront)
{
  const size_t floats = (size_t)((sweeps - 1) * RING * layout->plane) + 2 * LINE;
  struct cpu_wavefront *w = calloc(1, sizeof *w);
  if (!w) return log_fail(STATUS_ENVIRONMENT, "no memory for the wavefront");
  *w = (struct cpu_wavefront){
      .layout = *layout, .simd = simd, .sweeps = sweeps, .threads = threads, .cache = cache_bytes()};
  w->workers = calloc((size_t)threads, sizeof *w->workers);
  w->memory = aligned_alloc(LINE * sizeof(float), (floats + LINE - 1) / LINE * LINE * sizeof(float));
  if (w->workers && w->memory) {
    memset(w->memory, 0, floats * sizeof(float));
    w->rings = w->memory + LINE;
    *wavefront = w;
    return STATUS_OK;
  }
  cpu_wavefront_close(w);
  return log_fail(STATUS_ENVIRONMENT, "no memory for %zu bytes of planes between sweeps",
                  floats * sizeof(float));
}

void cpu_wavefront_close(struct cpu_wavefront *w)
{
  if (!w) return;
  free(w->memory);
  free(w->workers);
  free(w);
}

/* ---- a row ---- */

/* What one thread does in a pass. */
struct slab {
  struct cpu_wavefront *w;
  const struct cpu_sweep *sweep;
  struct worker *me;
  int64_t lo, hi;  /* rows of the block that this thread writes */
  int first, last; /* in the block: the rows beyond are this thread's too */
};

/* The plane of a level: 0 is p. */
static const float *plane_of(const struct slab *s, int level, int64_t i)
{
  if (level == 0) return s->sweep->p + i * s->sweep->plane;
  return s->w->rings + ((level - 1) * RING + i % RING) * s->sweep->plane;
}

static float *plane_to(const struct slab *s, int level, int64_t i)
{
  if (level == s->w->sweeps) return s->sweep->out + i * s->sweep->plane;
  return s->w->rings + ((level - 1) * RING + i % RING) * s->sweep->plane;
}

static double points_sweep(const struct slab *s, int level, int64_t i, int64_t j, int64_t k, int64_t end,
                           int64_t next)
{
  const struct cpu_sweep *sweep = s->sweep;
  const int64_t at = j * sweep->pitch + k;
  const struct cpu_row row = {.coefficient = sweep->coefficient,
                              .below = plane_of(s, level - 1, i - 1) + at,
                              .middle = plane_of(s, level - 1, i) + at,
                              .above = plane_of(s, level - 1, i + 1) + at,
                              .out = plane_to(s, level, i) + at,
                              .pitch = sweep->pitch,
                              .x = i * sweep->plane + at,
                              .n = end - k,
                              .next = next};
  if (k >= end) return 0;
  return level < s->w->sweeps ? s->w->simd->row_keep(&row) : s->w->simd->row_stream(&row);
}

static void points_copy(const struct slab *s, int level, int64_t i, int64_t j, int64_t k, int64_t end)
{
  const int64_t at = j * s->sweep->pitch + k;
  if (k < end)
    memcpy(plane_to(s, level, i) + at, plane_of(s, level - 1, i) + at, (size_t)(end - k) * sizeof(float));
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* Level `level` reaches this much further than the box, as far as the array goes. */
static int64_t begin_of(const struct slab *s, int level, int64_t lo)
{
  return most(lo - (s->w->sweeps - level), 0);
}

static int64_t end_of(const struct slab *s, int level, int64_t hi, int d)
{
  return least(hi + (s->w->sweeps - level), s->w->layout.extent[d]);
}

/* A row of a level: points that sweeps leave alone are copied, and those outside of the box do not count. */
static void row_do(const struct slab *s, int level, int64_t i, int64_t j, int64_t next)
{
  const struct box *box = &s->sweep->box, *in = &s->w->layout.interior;
  const int64_t k = begin_of(s, level, box->lo[2]), end = end_of(s, level, box->hi[2], 2);
  if (i < in->lo[0] || i >= in->hi[0] || j < in->lo[1] || j >= in->hi[1]) {
    points_copy(s, level, i, j, k, end);
    return;
  }
  points_copy(s, level, i, j, k, in->lo[2]);
  points_copy(s, level, i, j, most(k, in->hi[2]), end);
  points_sweep(s, level, i, j, most(k, in->lo[2]), box->lo[2], 0);
  points_sweep(s, level, i, j, box->hi[2], least(end, in->hi[2]), 0);
  double gosa = points_sweep(s, level, i, j, box->lo[2], box->hi[2], next);
  if (i >= box->lo[0] && i < box->hi[0] && j >= s->lo && j < s->hi) s->me->gosa[level - 1] += gosa;
}

/* ---- a thread ---- */

/* Level `level` of the step in which level 1 is at plane `front`. */
static void level_do(const struct slab *s, int level, int64_t front)
{
  const struct box *box = &s->sweep->box;
  const int64_t i = front - LAG * (level - 1);
  if (i < begin_of(s, level, box->lo[0]) || i >= end_of(s, level, box->hi[0], 0)) return;
  const int64_t lo = s->first ? begin_of(s, level, s->lo) : s->lo;
  const int64_t hi = s->last ? end_of(s, level, s->hi, 1) : s->hi;
  const int64_t beyond = level == 1 ? s->sweep->plane : 0; /* later levels find theirs in the caches */
  for (int64_t j = lo; j < hi; j++)
    row_do(s, level, i, j, j + 1 < hi ? s->sweep->pitch : beyond - (j - lo) * s->sweep->pitch);
}

static void await(const struct worker *other, int64_t done)
{
  for (int spin = 0; __atomic_load_n(&other->done, __ATOMIC_ACQUIRE) < done; spin++)
    if (spin > SPINS) sched_yield();
}

static int64_t steps_of(const struct cpu_wavefront *w, const struct box *box)
{
  return box_extent(box, 0) + (LAG + 1) * (w->sweeps - 1);
}

static void slab_do(const struct slab *s, int64_t done)
{
  const int64_t steps = steps_of(s->w, &s->sweep->box), from = s->sweep->box.lo[0] - (s->w->sweeps - 1);
  __atomic_store_n(&s->me->done, done,
                   __ATOMIC_RELEASE); /* there may have been no rows for it in the block before */
  for (int64_t m = 0; m < steps; m++) {
    if (!s->first) await(s->me - 1, done + m);
    if (!s->last) await(s->me + 1, done + m);
    for (int level = 1; level <= s->w->sweeps; level++) level_do(s, level, from + m);
    __atomic_store_n(&s->me->done, done + m + 1, __ATOMIC_RELEASE);
  }
}

/* Rows of a block. */
static int64_t block_rows(const struct cpu_wavefront *w, const struct box *box, int threads)
{
  const double waiting =
      (LAG * (w->sweeps - 1) + 2) * HIMENO_COEFFICIENTS * sizeof(float) * (double)w->layout.pitch;
  const int64_t rows = box_extent(box, 1),
                fit = most((int64_t)(w->cache * CACHE_SHARE / waiting), w->sweeps) * threads;
  const int64_t blocks = (rows + fit - 1) / fit;
  return (rows + blocks - 1) / blocks;
}

/* One block, by the first of the threads if it has fewer rows than there are. */
static void block_do(struct cpu_wavefront *w, const struct cpu_sweep *sweep, int64_t lo, int64_t hi,
                     int64_t done)
{
  const int64_t me = omp_get_thread_num(), n = least(omp_get_num_threads(), hi - lo);
  if (me >= n) return;
  const struct slab slab = {.w = w,
                            .sweep = sweep,
                            .me = w->workers + me,
                            .lo = lo + (hi - lo) * me / n,
                            .hi = lo + (hi - lo) * (me + 1) / n,
                            .first = me == 0,
                            .last = me == n - 1};
  slab_do(&slab, done);
  w->simd->fence();
}

void cpu_wavefront_pass(struct cpu_wavefront *w, const struct cpu_sweep *sweep, double *gosa)
{
  const struct box *box = &sweep->box;
  const int64_t steps = steps_of(w, box);
  int64_t blocks = 0;

  for (int n = 0; n < w->threads; n++) memset(w->workers[n].gosa, 0, sizeof w->workers[n].gosa);
#pragma omp parallel num_threads(w->threads)
  {
    const int64_t rows = block_rows(w, box, omp_get_num_threads());
    int64_t block = 0;
    for (int64_t j = box->lo[1]; j < box->hi[1]; j += rows, block++) {
      block_do(w, sweep, j, least(j + rows, box->hi[1]), w->done + block * steps);
#pragma omp barrier
    }
    if (omp_get_thread_num() == 0) blocks = block;
  }
  w->done += blocks * steps;
  for (int n = 0; n < w->threads; n++)
    for (int t = 0; t < w->sweeps; t++) gosa[t] += w->workers[n].gosa[t];
}
