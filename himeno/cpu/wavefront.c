/* SPDX-License-Identifier: MIT */
/* A thread takes a tile of rows and marches through its planes: in step m level 1 (the first sweep) is at plane m, level 2 one
 * plane behind it, and so on, while the coefficients are still in its second cache. Planes of the levels between p and out stand
 * in rings of its own. Level t computes sweeps − t rows more on each side of the tile than are written, and as many planes before
 * and behind a run of planes, so that threads need nothing of each other: where cores are shared with others, a thread that
 * falls behind stops none. Tiles are marched in chunks of planes; who has none left takes half of those that another one has
 * before it.
 * Source of the scheme: G. Wellein et al., "Efficient temporal blocking for stencil computations by multicore-aware wavefront
 * parallelization", COMPSAC 2009; halos computed twice instead of barriers: T. Muranushi and J. Makino, "Optimal temporal
 * blocking for stencil computation", ICCS 2015. */
#include "himeno/cpu/wavefront.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

#define RING 3  /* planes of a level: the next one reads three */
#define LINE 16 /* floats */
/* How far what waits may exceed a core's second cache, since narrower tiles compute more rows twice: on 16 cores with 2 MB each
 * 0.75 was 4% and 16% slower for two and four sweeps, when threads still waited for each other. And the cache's size where the
 * system does not tell. */
#define CACHE_SHARE 1.5
#define CACHE_BYTES (1 << 20)
/* Rows of a tile for each row of its halo, whatever the cache: on a core with 512 KB three and four sweeps gained more by 8 than
 * they lost to the third cache. */
#define ROWS_A_HALO 8
/* Planes of a chunk. A run that another thread goes on with computes 2·(sweeps − 1) of them again. */
#define CHUNK 16

/* Chunks of a tile that a thread has before it. */
struct run {
  int64_t tile, from, to;
};

struct worker {
  struct run run;
  float *rings;                               /* sweeps − 1 levels of RING planes of a tile */
  double plane_gosa[CPU_WAVEFRONT_SWEEPS][8]; /* of the last planes of each level, by the plane's number */
  char apart[64];
};

struct cpu_wavefront {
  struct layout layout;
  const struct cpu_simd *simd;
  int sweeps, threads;
  int64_t rows;                   /* of a tile, at most */
  int64_t tiles, chunks, untaken; /* of the pass; tiles that nobody began */
  double *gosa;                   /* of a chunk, level by level */
  struct worker *workers;
};

/* HIMENO_CPU_CACHE in the environment, in bytes, is for tests: a small one makes many tiles. */
static double cache_bytes(void)
{
  const char *text = getenv("HIMENO_CPU_CACHE");
  long bytes = text ? strtol(text, NULL, 10) : sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? (double)bytes : CACHE_BYTES;
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static int64_t divide_up(int64_t n, int64_t by)
{
  return (n + by - 1) / by;
}

/* Rows that a tile writes: as many as let what waits stay near, but an even part for each thread where that is less. */
static int64_t tile_rows(const struct cpu_wavefront *w)
{
  const int halo = w->sweeps - 1;
  const double planes = HIMENO_COEFFICIENTS * w->sweeps + RING * w->sweeps;
  const double row = planes * (double)w->layout.pitch * sizeof(float);
  const int64_t fit = (int64_t)(cache_bytes() * CACHE_SHARE / row) - 2 * halo;
  const int64_t all = box_extent(&w->layout.owned, 1), even = divide_up(all, w->threads);
  return most(least(even, most(fit, ROWS_A_HALO * halo)), 1);
}

static int64_t ring_plane(const struct cpu_wavefront *w)
{
  return (w->rows + 2 * (w->sweeps - 1)) * w->layout.pitch;
}

/* Each thread is the first to touch its own, so that they lie in the memory next to it. */
static int rings_open(struct cpu_wavefront *w)
{
  /* Lines are read whole, and a little before and behind. */
  const size_t floats = (size_t)((w->sweeps - 1) * RING * ring_plane(w)) + 2 * LINE;
  const size_t bytes = (size_t)divide_up((int64_t)floats, LINE) * LINE * sizeof(float);
  int missing = 0;
#pragma omp parallel for schedule(static, 1) num_threads(w->threads) reduction(+ : missing)
  for (int n = 0; n < w->threads; n++) {
    float *memory = aligned_alloc(LINE * sizeof(float), bytes);
    if (memory)
      w->workers[n].rings = (float *)memset(memory, 0, bytes) + LINE;
    else
      missing++;
  }
  return missing == 0;
}

status_t cpu_wavefront_open(const struct layout *layout, const struct cpu_simd *simd, int sweeps, int threads,
                            struct cpu_wavefront **wavefront)
{
  struct cpu_wavefront *w = calloc(1, sizeof *w);
  if (!w) return log_fail(STATUS_ENVIRONMENT, "no memory for the wavefront");
  *w = (struct cpu_wavefront){.layout = *layout, .simd = simd, .sweeps = sweeps, .threads = threads};
  w->rows = tile_rows(w);
  const int64_t tiles = divide_up(layout->extent[1], w->rows), chunks = divide_up(layout->extent[0], CHUNK);
  w->workers = calloc((size_t)threads, sizeof *w->workers);
  w->gosa = malloc((size_t)(tiles * chunks * sweeps) * sizeof *w->gosa);
  if (w->workers && w->gosa && rings_open(w)) {
    *wavefront = w;
    return STATUS_OK;
  }
  cpu_wavefront_close(w);
  return log_fail(STATUS_ENVIRONMENT, "no memory for planes between sweeps");
}

void cpu_wavefront_close(struct cpu_wavefront *w)
{
  if (!w) return;
  for (int n = 0; w->workers && n < w->threads; n++)
    if (w->workers[n].rings) free(w->workers[n].rings - LINE);
  free(w->workers);
  free(w->gosa);
  free(w);
}

/* ---- a row ---- */

/* What a thread is at. */
struct march {
  struct cpu_wavefront *w;
  const struct cpu_sweep *sweep;
  struct worker *me;
  int64_t lo, hi;     /* rows of the tile that are written */
  int64_t first, end; /* planes of the chunk that are written */
  int64_t start;      /* and of the run's first */
};

/* Element (i, j, k) of a level between p and out. */
static float *ring_at(const struct march *s, int level, int64_t i, int64_t j, int64_t k)
{
  const struct cpu_wavefront *w = s->w;
  const int64_t row = j - (s->lo - (w->sweeps - 1));
  return s->me->rings + ((level - 1) * RING + i % RING) * ring_plane(w) + row * w->layout.pitch + k;
}

static const float *from(const struct march *s, int level, int64_t i, int64_t j, int64_t k)
{
  if (level > 0) return ring_at(s, level, i, j, k);
  return s->sweep->p + i * s->sweep->plane + j * s->sweep->pitch + k;
}

static float *to(const struct march *s, int level, int64_t i, int64_t j, int64_t k)
{
  if (level < s->w->sweeps) return ring_at(s, level, i, j, k);
  return s->sweep->out + i * s->sweep->plane + j * s->sweep->pitch + k;
}

static double points_sweep(const struct march *s, int level, int64_t i, int64_t j, int64_t k, int64_t end,
                           int64_t next)
{
  if (k >= end) return 0;
  const struct cpu_row row = {.coefficient = s->sweep->coefficient,
                              .below = from(s, level - 1, i - 1, j, k),
                              .middle = from(s, level - 1, i, j, k),
                              .above = from(s, level - 1, i + 1, j, k),
                              .out = to(s, level, i, j, k),
                              .pitch = s->sweep->pitch,
                              .x = i * s->sweep->plane + j * s->sweep->pitch + k,
                              .n = end - k,
                              .next = next};
  return level < s->w->sweeps ? s->w->simd->row_keep(&row) : s->w->simd->row_stream(&row);
}

static void points_copy(const struct march *s, int level, int64_t i, int64_t j, int64_t k, int64_t end)
{
  if (k < end) memcpy(to(s, level, i, j, k), from(s, level - 1, i, j, k), (size_t)(end - k) * sizeof(float));
}

/* Level `level` reaches this much further than what is written, as far as the array goes. */
static int64_t begin_of(const struct march *s, int level, int64_t lo)
{
  return most(lo - (s->w->sweeps - level), 0);
}

static int64_t end_of(const struct march *s, int level, int64_t hi, int d)
{
  return least(hi + (s->w->sweeps - level), s->w->layout.extent[d]);
}

/* A row of a level: points that sweeps leave alone are copied, and those outside of the tile do not count. */
static double row_do(const struct march *s, int level, int64_t i, int64_t j, int64_t next)
{
  const struct box *box = &s->sweep->box, *in = &s->w->layout.interior;
  const int64_t k = begin_of(s, level, box->lo[2]), end = end_of(s, level, box->hi[2], 2);
  if (i < in->lo[0] || i >= in->hi[0] || j < in->lo[1] || j >= in->hi[1]) {
    points_copy(s, level, i, j, k, end);
    return 0;
  }
  points_copy(s, level, i, j, k, in->lo[2]);
  points_copy(s, level, i, j, most(k, in->hi[2]), end);
  points_sweep(s, level, i, j, most(k, in->lo[2]), box->lo[2], 0);
  points_sweep(s, level, i, j, box->hi[2], least(end, in->hi[2]), 0);
  double gosa = points_sweep(s, level, i, j, box->lo[2], box->hi[2], next);
  return j >= s->lo && j < s->hi ? gosa : 0;
}

/* ---- a chunk ---- */

/* Level `level` of the step in which level 1 is at plane `front`. */
static void level_do(const struct march *s, int level, int64_t front)
{
  const int64_t i = front - (level - 1);
  if (i < begin_of(s, level, s->start) || i >= end_of(s, level, s->end, 0)) return;
  const int64_t lo = begin_of(s, level, s->lo), hi = end_of(s, level, s->hi, 1);
  const int64_t beyond = level == 1 ? s->sweep->plane : 0; /* later levels find theirs in the caches */
  double gosa = 0;
  for (int64_t j = lo; j < hi; j++)
    gosa += row_do(s, level, i, j, j + 1 < hi ? s->sweep->pitch : beyond - (j - lo) * s->sweep->pitch);
  s->me->plane_gosa[level - 1][i % 8] = gosa;
}

/* Who writes a plane counts all of its levels, whoever else computed them. */
static void chunk_do(const struct march *s, double *gosa)
{
  const int sweeps = s->w->sweeps;
  const int64_t begin = s->first > s->start ? s->first + (sweeps - 1) : s->first - (sweeps - 1);
  for (int t = 0; t < sweeps; t++) gosa[t] = 0;
  for (int64_t front = begin; front < s->end + (sweeps - 1); front++) {
    const int64_t written = front - (sweeps - 1);
    for (int level = 1; level <= sweeps; level++) level_do(s, level, front);
    for (int t = 0; t < sweeps && written >= s->first; t++) gosa[t] += s->me->plane_gosa[t][written % 8];
  }
}

/* ---- a thread ---- */

/* What another thread has before it is shared with the one that has most. */
static int run_steal(struct cpu_wavefront *w, struct run *run)
{
  struct run *richest = run;
  for (int n = 0; n < w->threads; n++) {
    struct run *other = &w->workers[n].run;
    if (other->to - other->from > richest->to - richest->from) richest = other;
  }
  const int64_t taken = (richest->to - richest->from + 1) / 2;
  if (taken < 1) return 0;
  *run = (struct run){richest->tile, richest->to - taken, richest->to};
  richest->to -= taken;
  return 1;
}

/* The next chunk of a thread; 0 when there is none anywhere. *fresh: it does not follow the one before. */
static int chunk_take(struct cpu_wavefront *w, struct run *run, int64_t *tile, int64_t *chunk, int *fresh)
{
  int some = 1;
#pragma omp critical(cpu_wavefront_chunks)
  {
    *fresh = run->from >= run->to;
    if (*fresh && w->untaken > 0)
      *run = (struct run){w->tiles - w->untaken--, 0, w->chunks};
    else if (*fresh)
      some = run_steal(w, run);
    *tile = run->tile;
    *chunk = run->from;
    if (some) run->from++;
  }
  return some;
}

static void worker_do(struct cpu_wavefront *w, const struct cpu_sweep *sweep, struct worker *me)
{
  const struct box *box = &sweep->box;
  struct march s = {.w = w, .sweep = sweep, .me = me};
  int64_t tile, chunk;
  int fresh;

  while (chunk_take(w, &me->run, &tile, &chunk, &fresh)) {
    s.lo = box->lo[1] + box_extent(box, 1) * tile / w->tiles;
    s.hi = box->lo[1] + box_extent(box, 1) * (tile + 1) / w->tiles;
    s.first = box->lo[0] + chunk * CHUNK;
    s.end = least(s.first + CHUNK, box->hi[0]);
    if (fresh) s.start = s.first;
    chunk_do(&s, w->gosa + (tile * w->chunks + chunk) * w->sweeps);
  }
  w->simd->fence();
}

void cpu_wavefront_pass(struct cpu_wavefront *w, const struct cpu_sweep *sweep, double *gosa)
{
  const struct box *box = &sweep->box;

  w->untaken = w->tiles = divide_up(box_extent(box, 1), w->rows);
  w->chunks = divide_up(box_extent(box, 0), CHUNK);
  for (int n = 0; n < w->threads; n++) w->workers[n].run = (struct run){0, 0, 0};
#pragma omp parallel num_threads(w->threads)
  worker_do(w, sweep, w->workers + omp_get_thread_num());
  for (int64_t n = 0; n < w->tiles * w->chunks; n++)
    for (int t = 0; t < w->sweeps; t++) gosa[t] += w->gosa[n * w->sweeps + t];
}
