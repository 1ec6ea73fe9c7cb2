/* SPDX-License-Identifier: MIT */
/* A thread takes a tile of rows and marches through the planes of a chunk: in step m level 1 (the
 * first sweep) is at plane m, level 2 one plane behind it, and so on, while the coefficients are
 * still in its second cache. Planes of the levels between p and out stand in rings of its own.
 * Tiles are skewed: each level begins and ends one row before the level below it. So of the tile
 * before, which the same thread has marched, a tile needs but two rows of each level, which that
 * one left in the border store. Only where a thread starts are rows computed that others compute
 * too, and only the planes at both ends of a march: level t reaches sweeps − t further than what is
 * written. Where the CPU does not do so itself, memory is kept busy: while a step computes, mostly
 * from the caches, it fetches what the next one reads for the first time. Threads need nothing of
 * each other: where cores are shared with others, a thread that falls behind stops none. Tiles are
 * marched in blocks of planes; who has none left takes half of the tiles that another one has
 * before it, or of the blocks of its last tile. Sources of the scheme: G. Wellein et al.,
 * "Efficient temporal blocking for stencil computations by multicore-aware wavefront
 * parallelization", COMPSAC 2009; halos computed twice instead of barriers: T. Muranushi and J.
 * Makino, "Optimal temporal blocking for stencil computation", ICCS 2015. */
#include "himeno/kernels/cpu/wavefront.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/switches.h"
#include "himeno/kernels/cpu/wavefront_private.h"

#define LINE  16 /* floats */
#define BLOCK 16 /* planes, about: a tile is shared no finer */
/* How much of a core's second cache what waits may fill, with the plane that is fetched and where
 * none is, and the cache's size where the system does not tell. On an Intel Xeon narrow tiles were
 * best, on an AMD EPYC wide ones. */
#define CACHE_SHARE       0.5
#define CACHE_SHARE_FETCH 1.5
#define CACHE_BYTES       (1 << 20)
/* Rows of a tile for each one that later levels read from memory again, whatever the cache. */
#define ROWS_A_HALO 4

static double cache_bytes(void)
{
  long long bytes = switch_number("HIMENO_CPU_CACHE", sysconf(_SC_LEVEL2_CACHE_SIZE));
  return bytes > 0 ? (double)bytes : CACHE_BYTES;
}

/* Rows that a tile writes: as many as let what waits stay near. */
static int64_t tile_rows(const struct cpu_wavefront *w)
{
  const int planes = HIMENO_COEFFICIENTS * (w->sweeps + w->fetches) + RING * w->sweeps + 1;
  const double row = (double)(planes * w->layout.pitch) * sizeof(float);
  const int64_t fit = (int64_t)(cache_bytes() * (w->fetches ? CACHE_SHARE_FETCH : CACHE_SHARE) / row);
  return least(most(fit, ROWS_A_HALO * (w->sweeps - 1)), w->layout.extent[1]);
}

/* Rows of a step: those of a tile's start in all arrays that level 1 reads, p's neighbours, and
 * what later levels begin with. */
static size_t fetch_rows(const struct cpu_wavefront *w)
{
  const int64_t rows = w->rows + 2 * (w->sweeps - 1);
  return (size_t)((HIMENO_COEFFICIENTS + 1) * rows + 2 + (w->sweeps - 1) * (HIMENO_COEFFICIENTS + BORDER));
}

static int worker_open(const struct cpu_wavefront *w, struct worker *me)
{
  const int64_t levels = w->sweeps - 1, border = levels * w->layout.extent[0] * BORDER * w->layout.pitch;
  /* Lines are read whole, and a little before and behind. */
  const size_t rings =
      (size_t)(divide_up(levels * RING * ring_plane(w) + 2 * LINE, LINE) * LINE) * sizeof(float);
  float *memory = aligned_alloc(LINE * sizeof(float), rings);
  if (memory) me->rings = (float *)memset(memory, 0, rings) + LINE;
  me->border = aligned_alloc(LINE * sizeof(float), (size_t)border * sizeof(float));
  me->fetch.rows = malloc(fetch_rows(w) * sizeof *me->fetch.rows);
  return me->rings && me->border && me->fetch.rows;
}

/* Each thread is the first to touch its own, so that they lie in the memory next to it. */
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
  if (!w) return log_fail(STATUS_ENVIRONMENT, "no memory for the wavefront");
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
  return log_fail(STATUS_ENVIRONMENT, "no memory for planes between sweeps");
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

/* ---- a thread ---- */

/* What the one that has most has before it is shared with another thread: tiles that it has not
 * begun, or else what is left of its last one. */
static void run_steal(struct cpu_wavefront *w, struct run *run)
{
  struct run *richest = run;
  for (int n = 0; n < w->threads; n++) {
    struct run *other = &w->workers[n].run;
    if (other->to - other->from > richest->to - richest->from) richest = other;
  }
  const int64_t tiles_from = divide_up(richest->from, w->blocks) * w->blocks;
  int64_t at = richest->from + (richest->to - richest->from) / 2;
  if (tiles_from < richest->to)
    at = tiles_from + divide_up(richest->to - tiles_from, w->blocks) / 2 * w->blocks;
  *run = (struct run){at, richest->to};
  richest->to = at;
}

/* The next block of a thread, or −1 when there is none anywhere. */
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

/* Sets the march to a block. What follows the last one goes on from it; a tile goes on from one
 * that was marched whole. */
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
    cpu_wavefront_block(&s, w->gosa + block * w->sweeps);
  }
  w->simd->fence();
}

/* ---- a pass ---- */

/* How much a thread computes for each point that it writes, where planes are cut into so many
 * chunks. A thread that goes on in another chunk starts twice. */
static double work_of(const struct cpu_wavefront *w, const struct box *box, int64_t chunks)
{
  const double halo = 2 * (w->sweeps - 1), starts = w->threads % chunks ? 2 : 1;
  const double planes = (double)box_extent(box, 0) / (double)chunks;
  const double rows = (double)(box_extent(box, 1) * chunks) / w->threads;
  return (1 + halo / planes) * (1 + halo * starts / rows);
}

/* Chunks for the least work, and tiles so that threads get equally many. */
static void pass_cut(struct cpu_wavefront *w, const struct box *box)
{
  const int64_t planes = box_extent(box, 0), rows = box_extent(box, 1);
  int64_t even = 1;
  w->chunks = 1;
  for (int64_t n = 2; n <= least(w->threads, planes); n++)
    if (work_of(w, box, n) < work_of(w, box, w->chunks)) w->chunks = n;
  while (even * w->chunks % w->threads) even++;
  w->tiles = least(divide_up(divide_up(rows, w->rows), even) * even, rows);
  w->blocks = divide_up(planes / w->chunks, BLOCK);
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
