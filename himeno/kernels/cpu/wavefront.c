/* SPDX-License-Identifier: MIT */
/* Several sweeps per pass on the CPU. A thread takes a tile of rows and marches through the planes
 * of a chunk: in step m, level 1 (the first sweep) is at plane m, level 2 at plane m − 1, and so
 * on, while the coefficients are still in L2. Each thread keeps the planes of the levels between p
 * and out in rings.
 *
 * Tiles are skewed: each level begins and ends one row before the previous level. A tile therefore
 * needs only two rows per level of the previous tile, which the same thread marched through; they
 * are in the border store. Rows are computed twice only at the start of a thread's work, and planes
 * only at both ends of a march: level t extends sweeps − t planes beyond the written ones. Unless
 * the CPU prefetches by itself, each step prefetches the new data of the next step.
 *
 * Threads do not wait for each other, so a delayed thread stops no other. Tiles are marched in
 * blocks of planes; a thread without work takes half of the remaining tiles of another one, or half
 * of the blocks of its last tile.
 *
 * Sources: G. Wellein et al., "Efficient temporal blocking for stencil computations by
 * multicore-aware wavefront parallelization", COMPSAC 2009; redundant halos instead of barriers: T.
 * Muranushi and J. Makino, "Optimal temporal blocking for stencil computation", ICCS 2015. */
#include "himeno/kernels/cpu/cpu_sweep.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/openmp.h"
#include "base/switches.h"

SWITCH("HIMENO_CPU_CACHE", TUNING, AGREED, COUNT,
       "bytes of L2 for which `wavefront` kernels size their tiles, instead of this CPU's");

#define LINE  16 /* floats */
#define BLOCK 16 /* approximate number of planes in a block, the unit of work that threads share */
/* Share of a core's L2 for coefficients that later levels still need: CACHE_SHARE, or with
 * prefetching CACHE_SHARE_FETCH. Narrow tiles were fastest on an Intel Xeon, wide ones on an AMD
 * EPYC. CACHE_BYTES is the size of L2 if the system does not report it. */
#define CACHE_SHARE       0.5
#define CACHE_SHARE_FETCH 1.5
#define CACHE_BYTES       (1 << 20)
/* Minimum rows of a tile, as a multiple of the sweeps − 1 rows that it reads again from memory. */
#define ROWS_A_HALO 4
#define RING        3 /* planes per level, because the next level reads three */
#define BORDER      2 /* rows per level that the next tile needs */

/* A thread's remaining blocks [from, to), numbered chunk by chunk and tile by tile. */
struct run {
  int64_t from, to;
};

/* First points of the n rows that the next step reads for the first time. Each of the `shares` rows
 * swept in this step prefetches an equal part of them; `share` counts the rows swept so far. */
struct fetch {
  const float **rows;
  int64_t n, shares, share;
};

struct worker {
  struct run run;
  struct fetch fetch;
  float *rings; /* sweeps − 1 levels of RING planes of a tile */
  /* sweeps − 1 levels, with BORDER rows per plane of a chunk */
  float *border;
  /* gosa of each level's last planes, indexed by the plane's number modulo 8 */
  double plane_gosa[CPU_WAVEFRONT_SWEEPS][8];
  char padding[64];
};

struct cpu_wavefront {
  struct layout layout;
  const struct cpu_simd *simd;
  int sweeps, threads;
  int fetches;                   /* 1: steps prefetch data of the next step */
  int64_t rows;                  /* maximum rows per tile */
  int64_t chunks, tiles, blocks; /* chunks per pass, tiles per chunk, blocks per tile */
  double *gosa;                  /* per block and level */
  struct worker *workers;
};

/* Position of a thread. */
struct march {
  struct cpu_wavefront *w;
  const struct cpu_sweep *sweep;
  struct worker *me;
  int64_t lo, hi;              /* [lo, hi): rows of the tile that are written */
  int64_t first, end;          /* [first, end): planes of the block that are written */
  int64_t start;               /* first plane of the march */
  int64_t chunk_lo, chunk_end; /* [chunk_lo, chunk_end): planes of the chunk */
  int fresh;                   /* 1: the border store does not contain the previous tile's rows */
};

static int64_t wavefront_least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static int64_t wavefront_divide_up(int64_t n, int64_t by)
{
  return (n + by - 1) / by;
}

/* Returns the first element of part `index` of `of` equal parts of n elements from lo on. */
static int64_t part(int64_t lo, int64_t n, int64_t index, int64_t of)
{
  return lo + n * index / of;
}

static int64_t ring_plane(const struct cpu_wavefront *w)
{
  return (w->rows + 2 * (w->sweeps - 1)) * w->layout.pitch;
}

/* Returns how many rows a tile writes, so that L2 holds the coefficients that later levels need. */
static int64_t tile_rows(const struct cpu_wavefront *w)
{
  const int planes = HIMENO_COEFFICIENTS * (w->sweeps + w->fetches) + RING * w->sweeps + 1;
  const double row = (double)(planes * w->layout.pitch) * sizeof(float);
  const long long known = switch_number("HIMENO_CPU_CACHE", sysconf(_SC_LEVEL2_CACHE_SIZE));
  const double cache = known > 0 ? (double)known : CACHE_BYTES;
  const int64_t fit = (int64_t)(cache * (w->fetches ? CACHE_SHARE_FETCH : CACHE_SHARE) / row);
  return wavefront_least(most(fit, ROWS_A_HALO * (w->sweeps - 1)), w->layout.extent[1]);
}

/* Returns the maximum number of rows that a step prefetches: for level 1 all its rows of the
 * coefficients and of p, with the two adjacent rows of p; for each other level one row per
 * coefficient, and BORDER rows of the border store. */
static size_t fetch_rows(const struct cpu_wavefront *w)
{
  const int64_t rows = w->rows + 2 * (w->sweeps - 1);
  return (size_t)((HIMENO_COEFFICIENTS + 1) * rows + 2 + (w->sweeps - 1) * (HIMENO_COEFFICIENTS + BORDER));
}

static int worker_open(const struct cpu_wavefront *w, struct worker *me)
{
  const int64_t levels = w->sweeps - 1, border = levels * w->layout.extent[0] * BORDER * w->layout.pitch;
  /* rows are read in whole cache lines, and one more line on each side */
  const size_t rings =
      (size_t)(wavefront_divide_up(levels * RING * ring_plane(w) + 2 * LINE, LINE) * LINE) * sizeof(float);
  float *memory = aligned_alloc(LINE * sizeof(float), rings);
  if (memory) me->rings = (float *)memset(memory, 0, rings) + LINE;
  me->border = aligned_alloc(LINE * sizeof(float), (size_t)border * sizeof(float));
  me->fetch.rows = malloc(fetch_rows(w) * sizeof *me->fetch.rows);
  return me->rings && me->border && me->fetch.rows;
}

/* Each thread touches its own memory first, so that it is placed on the thread's NUMA node. */
static int workers_open(struct cpu_wavefront *w)
{
  int missing = 0;
#pragma omp parallel for schedule(static, 1) num_threads(w->threads) reduction(+ : missing)
  for (int n = 0; n < w->threads; n++) missing += !worker_open(w, &w->workers[n]);
  return missing == 0;
}

status_t cpu_wavefront_open(const struct layout *layout, const struct cpu_simd *simd, int sweeps, int threads,
                            struct cpu_wavefront **wavefront)
{
  const int64_t blocks = (layout->extent[0] / BLOCK + 2 * threads) * layout->extent[1];
  struct cpu_wavefront *w = calloc(1, sizeof *w);
  if (!w) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the wavefront");
  *w = (struct cpu_wavefront){
      .layout = *layout, .simd = simd, .sweeps = sweeps, .threads = threads, .fetches = cpu_fetches()};
  w->rows = tile_rows(w);
  w->workers = calloc((size_t)threads, sizeof *w->workers);
  w->gosa = malloc((size_t)(blocks * sweeps) * sizeof *w->gosa);
  if (w->workers && w->gosa && workers_open(w)) {
    *wavefront = w;
    return STATUS_OK;
  }
  cpu_wavefront_close(w);
  return log_fail(STATUS_ENVIRONMENT, "out of host memory for planes between sweeps");
}

void cpu_wavefront_close(struct cpu_wavefront *w)
{
  if (!w) return;
  for (int n = 0; w->workers && n < w->threads; n++) {
    if (w->workers[n].rings) free(w->workers[n].rings - LINE);
    free(w->workers[n].border);
    free(w->workers[n].fetch.rows);
  }
  free(w->workers);
  free(w->gosa);
  free(w);
}

/* Prefetches during the sweep of a row, as in struct cpu_row. */
struct ahead {
  int64_t next;
  const float *const *fetch;
  int64_t fetches;
};

/* Returns the address of element (i, j, k) of a level between p and out. */
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
                           const struct ahead *ahead)
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
                              .next = ahead->next,
                              .fetch = ahead->fetch,
                              .fetches = ahead->fetches};
  return level < s->w->sweeps ? s->w->simd->row_keep(&row) : s->w->simd->row_stream(&row);
}

static void points_copy(const struct march *s, int level, int64_t i, int64_t j, int64_t k, int64_t end)
{
  if (k < end) memcpy(to(s, level, i, j, k), from(s, level - 1, i, j, k), (size_t)(end - k) * sizeof(float));
}

/* Returns the number of points by which `level` extends beyond the written ones. */
static int64_t reach_of(const struct march *s, int level)
{
  return s->w->sweeps - level;
}

/* Returns the first index of a level, at least 0. */
static int64_t wavefront_begin(const struct march *s, int level, int64_t lo)
{
  return most(lo - reach_of(s, level), 0);
}

static int64_t end_of(const struct march *s, int level, int64_t hi, int d)
{
  return wavefront_least(hi + reach_of(s, level), s->w->layout.extent[d]);
}

/* Returns whether this tile counts the gosa of a level's row. If several tiles compute a row,
 * because a thread starts there, only the tile that contains the row counts it. */
static int wavefront_counts(const struct march *s, int level, int64_t j)
{
  const struct box *box = &s->sweep->box;
  const int64_t reach = reach_of(s, level), lo = s->lo > box->lo[1] ? s->lo + reach : s->lo;
  return j >= lo && j < wavefront_least(s->hi + reach, box->hi[1]);
}

/* Computes a row of a level and copies the points that sweeps do not update. Returns the gosa that
 * this tile counts. */
static double row_do(const struct march *s, int level, int64_t i, int64_t j, const struct ahead *ahead)
{
  static const struct ahead nothing;
  const struct box *box = &s->sweep->box, *in = &s->w->layout.interior;
  const int64_t k = wavefront_begin(s, level, box->lo[2]), end = end_of(s, level, box->hi[2], 2);
  if (i < in->lo[0] || i >= in->hi[0] || j < in->lo[1] || j >= in->hi[1]) {
    points_copy(s, level, i, j, k, end);
    return 0;
  }
  points_copy(s, level, i, j, k, in->lo[2]);
  points_copy(s, level, i, j, most(k, in->hi[2]), end);
  points_sweep(s, level, i, j, most(k, in->lo[2]), box->lo[2], &nothing);
  points_sweep(s, level, i, j, box->hi[2], wavefront_least(end, in->hi[2]), &nothing);
  double gosa = points_sweep(s, level, i, j, box->lo[2], box->hi[2], ahead);
  return wavefront_counts(s, level, j) ? gosa : 0;
}

/* Sets *i to the level's plane in the step in which level 1 is at plane `front`. Returns whether a
 * march to plane `end` computes it. */
static int plane_of(const struct march *s, int level, int64_t front, int64_t end, int64_t *i)
{
  *i = front - (level - 1);
  return *i >= wavefront_begin(s, level, s->start) && *i < end_of(s, level, end, 0);
}

/* Returns the number of rows that the level sweeps, and sets *lo to the first. Rows that the
 * previous tile swept are left out if the border store has them. */
static int64_t rows_of(const struct march *s, int level, int64_t *lo)
{
  *lo = s->fresh ? wavefront_begin(s, level, s->lo) : s->lo + reach_of(s, level);
  return most(end_of(s, level, s->hi, 1) - *lo, 0);
}

/* Returns the address of row n of the level's plane i in the border store. */
static float *border_at(const struct march *s, int level, int64_t i, int64_t n)
{
  const struct layout *layout = &s->w->layout;
  const int64_t plane = (level - 1) * layout->extent[0] + i - wavefront_begin(s, 1, s->chunk_lo);
  return s->me->border + (plane * BORDER + n) * layout->pitch;
}

/* Copies the last BORDER rows of each level before row `lo` into the border store, or back from it
 * if `store` is 0. */
static void borders_move(const struct march *s, int64_t front, int64_t lo, int store)
{
  const struct box *box = &s->sweep->box;
  int64_t i;
  for (int level = 1; level < s->w->sweeps; level++) {
    if (!plane_of(s, level, front, s->end, &i)) continue;
    const int64_t k = wavefront_begin(s, level, box->lo[2]), n = end_of(s, level, box->hi[2], 2) - k;
    for (int b = 0; b < BORDER; b++) {
      float *row = ring_at(s, level, i, lo + reach_of(s, level) - BORDER + b, k),
            *kept = border_at(s, level, i, b) + k;
      memcpy(store ? kept : row, store ? row : kept, (size_t)n * sizeof(float));
    }
  }
}

static void fetch_coefficients(const struct march *s, int64_t i, int64_t j)
{
  struct fetch *f = &s->me->fetch;
  const int64_t x = i * s->sweep->plane + j * s->sweep->pitch + s->sweep->box.lo[2];
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) f->rows[f->n++] = s->sweep->coefficient[m] + x;
}

/* Lists the rows that the next step prefetches for a level. For level 1 this is its whole plane;
 * for later levels, after another tile, only their first row, which starts before the previous
 * level's. */
static void fetch_level(const struct march *s, int level, int64_t front)
{
  const int64_t *extent = s->w->layout.extent, k = s->sweep->box.lo[2];
  struct fetch *f = &s->me->fetch;
  int64_t i, lo, rows = rows_of(s, level, &lo);
  if (!plane_of(s, level, front, s->chunk_end, &i)) return;
  const int64_t cold = level == 1 ? rows : s->fresh ? 0 : wavefront_least(rows, 1);
  for (int64_t j = lo; j < lo + cold; j++) fetch_coefficients(s, i, j);
  for (int64_t j = most(lo - 1, 0);
       level == 1 && i + 1 < extent[0] && j < wavefront_least(lo + rows + 1, extent[1]); j++)
    f->rows[f->n++] = from(s, 0, i + 1, j, k);
  for (int b = 0; level < s->w->sweeps && !s->fresh && b < BORDER; b++)
    f->rows[f->n++] = border_at(s, level, i, b) + k;
}

static void fetch_begin(const struct march *s, int64_t front)
{
  struct fetch *f = &s->me->fetch;
  int64_t i, lo;
  f->n = f->shares = f->share = 0;
  for (int level = 1; level <= s->w->sweeps; level++) {
    if (plane_of(s, level, front, s->end, &i)) f->shares += rows_of(s, level, &lo);
    if (s->w->fetches) fetch_level(s, level, front + 1);
  }
}

static void level_do(const struct march *s, int level, int64_t front)
{
  /* in later levels the caches already hold the rows of the next plane */
  const int64_t plane = level == 1 ? s->sweep->plane : 0;
  struct fetch *f = &s->me->fetch;
  int64_t i, lo, rows = rows_of(s, level, &lo);
  double gosa = 0;
  if (!plane_of(s, level, front, s->end, &i)) return;
  for (int64_t j = 0; j < rows; j++, f->share++) {
    const int64_t fetched = part(0, f->n, f->share, f->shares);
    const struct ahead ahead = {.next = j + 1 < rows ? s->sweep->pitch : plane - j * s->sweep->pitch,
                                .fetch = f->rows + fetched,
                                .fetches = part(0, f->n, f->share + 1, f->shares) - fetched};
    gosa += row_do(s, level, i, lo + j, &ahead);
  }
  s->me->plane_gosa[level - 1][i % 8] = gosa;
}

/* Marches through a block. The thread that writes a plane counts the gosa of all levels of that
 * plane, even if another thread computed some of them. */
static void block_march(const struct march *s, double *gosa)
{
  const int sweeps = s->w->sweeps;
  const int64_t begin = s->first > s->start ? s->first + (sweeps - 1) : s->first - (sweeps - 1);
  for (int t = 0; t < sweeps; t++) gosa[t] = 0;
  for (int64_t front = begin; front < s->end + (sweeps - 1); front++) {
    const int64_t written = front - (sweeps - 1);
    fetch_begin(s, front);
    if (!s->fresh) borders_move(s, front, s->lo, 0);
    for (int level = 1; level <= sweeps; level++) level_do(s, level, front);
    if (s->hi < s->sweep->box.hi[1]) borders_move(s, front, s->hi, 1);
    for (int t = 0; t < sweeps && written >= s->first; t++) gosa[t] += s->me->plane_gosa[t][written % 8];
  }
}

/* Takes half of the remaining work of the thread that has most left: half of the tiles that it has
 * not begun, or if there are none, half of its blocks. */
static void run_steal(struct cpu_wavefront *w, struct run *run)
{
  struct run *richest = run;
  for (int n = 0; n < w->threads; n++) {
    struct run *other = &w->workers[n].run;
    if (other->to - other->from > richest->to - richest->from) richest = other;
  }
  const int64_t tiles_from = wavefront_divide_up(richest->from, w->blocks) * w->blocks;
  int64_t at = richest->from + (richest->to - richest->from) / 2;
  if (tiles_from < richest->to)
    at = tiles_from + wavefront_divide_up(richest->to - tiles_from, w->blocks) / 2 * w->blocks;
  *run = (struct run){at, richest->to};
  richest->to = at;
}

/* Returns the next block of a thread, or −1 if no thread has any left. */
static int64_t block_take(struct cpu_wavefront *w, struct run *run)
{
  int64_t block = -1;
#pragma omp critical(cpu_wavefront_blocks)
  {
    if (run->from >= run->to) run_steal(w, run);
    if (run->from < run->to) block = run->from++;
  }
  return block;
}

/* Sets the march to a block. If the block follows the thread's previous one, the march continues.
 * If it begins the next tile and the previous tile was marched whole, that tile's border rows are
 * used. */
static void march_place(struct march *s, int64_t block, int follows)
{
  const struct cpu_wavefront *w = s->w;
  const struct box *box = &s->sweep->box;
  const int64_t n = block % w->blocks, tile = block / w->blocks % w->tiles,
                chunk = block / w->blocks / w->tiles;
  const int whole = follows && s->start == s->chunk_lo;

  s->lo = part(box->lo[1], box_extent(box, 1), tile, w->tiles);
  s->hi = part(box->lo[1], box_extent(box, 1), tile + 1, w->tiles);
  s->chunk_lo = part(box->lo[0], box_extent(box, 0), chunk, w->chunks);
  s->chunk_end = part(box->lo[0], box_extent(box, 0), chunk + 1, w->chunks);
  s->first = part(s->chunk_lo, s->chunk_end - s->chunk_lo, n, w->blocks);
  s->end = part(s->chunk_lo, s->chunk_end - s->chunk_lo, n + 1, w->blocks);
  if (n > 0 && follows) return;
  s->start = s->first;
  s->fresh = n > 0 || tile == 0 || !whole;
}

static void worker_do(struct cpu_wavefront *w, const struct cpu_sweep *sweep, struct worker *me)
{
  struct march s = {.w = w, .sweep = sweep, .me = me};
  int64_t block, last = -1;

  for (; (block = block_take(w, &me->run)) >= 0; last = block) {
    march_place(&s, block, last >= 0 && block == last + 1);
    block_march(&s, w->gosa + block * w->sweeps);
  }
  w->simd->fence();
}

/* Returns the number of points that a thread computes per point that it writes, if the planes are
 * divided into \a chunks chunks. A thread that continues in another chunk computes the rows of a
 * start twice. */
static double wavefront_work(const struct cpu_wavefront *w, const struct box *box, int64_t chunks)
{
  const double halo = 2 * (w->sweeps - 1), starts = w->threads % chunks ? 2 : 1;
  const double planes = (double)box_extent(box, 0) / (double)chunks;
  const double rows = (double)(box_extent(box, 1) * chunks) / w->threads;
  return (1 + halo / planes) * (1 + halo * starts / rows);
}

/* Chooses the number of chunks with the least work, and equally many tiles for all threads. */
static void pass_cut(struct cpu_wavefront *w, const struct box *box)
{
  const int64_t planes = box_extent(box, 0), rows = box_extent(box, 1);
  int64_t even = 1;
  w->chunks = 1;
  for (int64_t n = 2; n <= wavefront_least(w->threads, planes); n++)
    if (wavefront_work(w, box, n) < wavefront_work(w, box, w->chunks)) w->chunks = n;
  while (even * w->chunks % w->threads) even++;
  w->tiles = wavefront_least(wavefront_divide_up(wavefront_divide_up(rows, w->rows), even) * even, rows);
  w->blocks = wavefront_divide_up(planes / w->chunks, BLOCK);
  for (int n = 0; n < w->threads; n++)
    w->workers[n].run = (struct run){part(0, w->chunks * w->tiles, n, w->threads) * w->blocks,
                                     part(0, w->chunks * w->tiles, n + 1, w->threads) * w->blocks};
}

void cpu_wavefront_pass(struct cpu_wavefront *w, const struct cpu_sweep *sweep, double *gosa)
{
  pass_cut(w, &sweep->box);
#pragma omp parallel num_threads(w->threads)
  worker_do(w, sweep, w->workers + omp_get_thread_num());
  for (int64_t n = 0; n < w->chunks * w->tiles * w->blocks; n++)
    for (int t = 0; t < w->sweeps; t++) gosa[t] += w->gosa[n * w->sweeps + t];
}
