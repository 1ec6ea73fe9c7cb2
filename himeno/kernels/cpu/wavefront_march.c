/* SPDX-License-Identifier: MIT */
/* A thread's march through the planes of a tile: rows, steps, and blocks of them. */
#include <string.h>

#include "himeno/kernels/cpu/wavefront_private.h"

/* ---- a row ---- */

/* What a row brings near while it is swept, as in struct cpu_row. */
struct ahead {
  int64_t next;
  const float *const *fetch;
  int64_t fetches;
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

/* Level `level` reaches this much further than what is written. */
static int64_t reach_of(const struct march *s, int level)
{
  return s->w->sweeps - level;
}

/* As far as the array goes. */
static int64_t begin_of(const struct march *s, int level, int64_t lo)
{
  return most(lo - reach_of(s, level), 0);
}

static int64_t end_of(const struct march *s, int level, int64_t hi, int d)
{
  return least(hi + reach_of(s, level), s->w->layout.extent[d]);
}

/* A row of a level counts for the tile that would sweep it if no thread started there. */
static int counts(const struct march *s, int level, int64_t j)
{
  const struct box *box = &s->sweep->box;
  const int64_t reach = reach_of(s, level), lo = s->lo > box->lo[1] ? s->lo + reach : s->lo;
  return j >= lo && j < least(s->hi + reach, box->hi[1]);
}

/* A row of a level: points that sweeps leave alone are copied. Returns what it counts. */
static double row_do(const struct march *s, int level, int64_t i, int64_t j, const struct ahead *ahead)
{
  static const struct ahead nothing;
  const struct box *box = &s->sweep->box, *in = &s->w->layout.interior;
  const int64_t k = begin_of(s, level, box->lo[2]), end = end_of(s, level, box->hi[2], 2);
  if (i < in->lo[0] || i >= in->hi[0] || j < in->lo[1] || j >= in->hi[1]) {
    points_copy(s, level, i, j, k, end);
    return 0;
  }
  points_copy(s, level, i, j, k, in->lo[2]);
  points_copy(s, level, i, j, most(k, in->hi[2]), end);
  points_sweep(s, level, i, j, most(k, in->lo[2]), box->lo[2], &nothing);
  points_sweep(s, level, i, j, box->hi[2], least(end, in->hi[2]), &nothing);
  double gosa = points_sweep(s, level, i, j, box->lo[2], box->hi[2], ahead);
  return counts(s, level, j) ? gosa : 0;
}

/* ---- a step ---- */

/* Plane of the level in the step in which level 1 is at plane `front`, and whether a march to plane
 * `end` has it. */
static int plane_of(const struct march *s, int level, int64_t front, int64_t end, int64_t *i)
{
  *i = front - (level - 1);
  return *i >= begin_of(s, level, s->start) && *i < end_of(s, level, end, 0);
}

/* Rows of the level, from *lo on: after another tile those that it has not swept. */
static int64_t rows_of(const struct march *s, int level, int64_t *lo)
{
  *lo = s->fresh ? begin_of(s, level, s->lo) : s->lo + reach_of(s, level);
  return most(end_of(s, level, s->hi, 1) - *lo, 0);
}

/* Row n of the level's plane i in the border store. */
static float *border_at(const struct march *s, int level, int64_t i, int64_t n)
{
  const struct layout *layout = &s->w->layout;
  const int64_t plane = (level - 1) * layout->extent[0] + i - begin_of(s, 1, s->chunk_lo);
  return s->me->border + (plane * BORDER + n) * layout->pitch;
}

/* Of all levels the rows before those that begin a tile at row `lo`: out of the store, or into
 * it. */
static void borders_move(const struct march *s, int64_t front, int64_t lo, int store)
{
  const struct box *box = &s->sweep->box;
  int64_t i;
  for (int level = 1; level < s->w->sweeps; level++) {
    if (!plane_of(s, level, front, s->end, &i)) continue;
    const int64_t k = begin_of(s, level, box->lo[2]), n = end_of(s, level, box->hi[2], 2) - k;
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

/* What a level reads first of all levels: level 1 the whole plane, and, after another tile, the
 * others their first row, since they begin before the level below. */
static void fetch_level(const struct march *s, int level, int64_t front)
{
  const int64_t *extent = s->w->layout.extent, k = s->sweep->box.lo[2];
  struct fetch *f = &s->me->fetch;
  int64_t i, lo, rows = rows_of(s, level, &lo);
  if (!plane_of(s, level, front, s->chunk_end, &i)) return;
  const int64_t cold = level == 1 ? rows : s->fresh ? 0 : least(rows, 1);
  for (int64_t j = lo; j < lo + cold; j++) fetch_coefficients(s, i, j);
  for (int64_t j = most(lo - 1, 0); level == 1 && i + 1 < extent[0] && j < least(lo + rows + 1, extent[1]);
       j++)
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
  /* later levels find theirs in the caches */
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

/* ---- a block ---- */

/* Who writes a plane counts all of its levels, whoever else computed them. */
void cpu_wavefront_block(const struct march *s, double *gosa)
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
