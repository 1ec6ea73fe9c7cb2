/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The vector sweep and the ceiling kernel, included once per instruction set.
 *
 * The including file defines: SIMD, the set's variable; NAME, its name as a string; SUPPORTED,
 * whether this CPU has it; FN(name), a function's name for it; TARGET, a function attribute; LANES,
 * floats per vector; LOW(v) and HIGH(v), halves of a float vector as doubles; LANE_NUMBERS, an int
 * vector 0, 1, …; STORE_STREAM(address, v), a store that bypasses the caches; STREAM_FENCE(), which
 * completes such stores; optionally STORE_MASKED(address, inside, v), which stores only the lanes
 * whose bits are set in the int vector `inside`; PIN(v), which keeps the compiler from delaying the
 * computation of v; ADD_SQUARE(sum, v), which adds the square of each double of v to sum. The
 * square of a float is exact in double, so a fused multiply-add gives the same result.
 *
 * Rows are swept by cache lines of 16 floats. Whole lines are stored past the caches, which saves
 * reading them first. A line that the box covers in part is stored whole if the sweep may write the
 * rest (see cpu_sweep). Otherwise it goes through the cache, because a line stored partly past the
 * caches would be transferred twice. */

#ifndef STORE_MASKED
#define STORE_MASKED(address, inside, v)                                                                     \
  do {                                                                                                       \
    for (int lane_ = 0; lane_ < LANES; lane_++)                                                              \
      if ((inside)[lane_]) (address)[lane_] = (v)[lane_];                                                    \
  } while (0)
#endif

#define LINE 16
/** Prefetch distances, in floats. Hardware prefetchers follow fewer streams than there are arrays
 * here, and lose them if the next row is not adjacent.
 *
 * On Intel, whose hardware prefetchers do most of the work, lines are prefetched into all caches.
 * The non-temporal hint would halve the rate, because the prefetchers of L2 then see nothing. An
 * AMD core that waits for a line fills its window with the arithmetic of a few lines and issues no
 * more prefetches. So the next row is prefetched into L2, which keeps memory busy, and lines are
 * prefetched from L2 into L1 shortly before their use, with the non-temporal hint. */
#define AHEAD        128
#define AHEAD_SECOND 80 /* distance for lines that are already in L2 */
#define AHEAD_NEAR   32 /* distance for lines of p that are in a cache */
/** Distance for the ceiling kernel if L2 prefetches: longer, because it only waits for memory. */
#define AHEAD_CEILING 256

typedef float FN(vector) __attribute__((vector_size(4 * LANES)));
typedef float FN(loose) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef double FN(wide) __attribute__((vector_size(4 * LANES)));
typedef int FN(ints) __attribute__((vector_size(4 * LANES)));

#define VF            FN(vector)
#define VD            FN(wide)
#define VI            FN(ints)
#define LOAD(address) ((VF) * (const FN(loose) *)(address))

/** Number of vectors per line. Each term is computed for all vectors of a line before the next
 * term, so that a loaded pointer serves all of them and their additions overlap. */
#define VECTORS (LINE / LANES)
#define EACH    _Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++)

/** A row that is being swept. Indices are elements of the arrays. */
struct FN(row) {
  int64_t first, end; /**< [first, end): range that the box covers */
  int64_t line, last; /**< [line, last): range of the row's cache lines */
  int64_t next;       /**< distance from the row's first point to that of the row swept next */
  /** distance from the end of the row's lines to the first line of the row swept next */
  int64_t skip;
  /** 1: lines that the box covers in part are stored whole, with the values of p outside of it */
  int whole;
};

/** Describes the row of n points from element `first` on; other parameters as in struct row. */
static inline TARGET __attribute__((always_inline)) struct FN(row)
    FN(row_of)(const float *out, int64_t first, int64_t n, int64_t next, int whole)
{
  const int64_t skew = (int64_t)((uintptr_t)out / sizeof(float) % LINE), line = first - skew;
  const int64_t last = line + (skew + n + LINE - 1) / LINE * LINE;
  return (struct FN(row)){first, first + n, line, last, next, line + next - last, whole};
}

/** Addresses of a cache line: in p of plane i (p), i + 1 (up), i − 1 (down), and in the new
 * field. */
struct FN(place) {
  const char *p, *up, *down;
  float *out;
};

/** Prefetches lines of p in row j + 1, which is `j` bytes away: in plane i + 1 the line `ahead`
 * floats ahead, in planes i and i − 1 the line AHEAD_NEAR ahead. If `by_row`, also prefetches the
 * same line of the row swept next. */
static inline TARGET __attribute__((always_inline)) void
FN(fetch_p)(int64_t j, const struct FN(place) * at, const struct FN(row) * row, int64_t ahead, int by_row)
{
  const int64_t next = j + 4 * row->next;
  __builtin_prefetch(at->up + j + 4 * ahead, 0, 3);
  __builtin_prefetch(at->p + j + 4 * AHEAD_NEAR, 0, 3);
  __builtin_prefetch(at->down + j + 4 * AHEAD_NEAR, 0, 3);
  if (!by_row) return;
  __builtin_prefetch(at->up + next, 0, 2);
  __builtin_prefetch(at->p + next, 0, 2);
  __builtin_prefetch(at->down + next, 0, 2);
}

/** Computes the residuals of the line at element x, term by term from left to right. If `by_row`,
 * also prefetches the row swept next. */
static inline TARGET __attribute__((always_inline)) void FN(residual)(const float *const *c, int64_t pitch,
                                                                      const struct FN(place) * at,
                                                                      const struct FN(row) * row, int64_t x,
                                                                      int by_row, VF ss[VECTORS])
{
  const int64_t ahead = by_row ? AHEAD_SECOND : x + AHEAD < row->last ? AHEAD : AHEAD + row->skip;
  const char *p = at->p, *up = at->up, *down = at->down;
  int64_t j = 4 * pitch, back = -j;
  /* Hides both values from the compiler, which otherwise keeps nine pointers and lacks
   * registers. */
  __asm__("" : "+r"(j), "+r"(back));

#define P(row, dk) LOAD((row) + 4 * ((dk) + v * LANES))
#define C(array)   LOAD(line + v * LANES)
/* volatile: addresses of arrays are loaded where they are used, as registers are too few. */
#define TERM(array, expression)                                                                              \
  {                                                                                                          \
    const float *line = ((const float *const volatile *)c)[HIMENO_##array] + x;                              \
    if (by_row) {                                                                                            \
      __builtin_prefetch(line + ahead, 0, 0);                                                                \
      __builtin_prefetch(line + row->next, 0, 2);                                                            \
    } else {                                                                                                 \
      __builtin_prefetch(line + ahead, 0, 3);                                                                \
    }                                                                                                        \
    EACH                                                                                                     \
    {                                                                                                        \
      ss[v] = expression;                                                                                    \
      PIN(ss[v]);                                                                                            \
    }                                                                                                        \
  }
  FN(fetch_p)(j, at, row, ahead, by_row);
  TERM(A0, C(A0) * P(up, 0))
  TERM(A1, ss[v] + C(A1) * P(p + j, 0))
  TERM(A2, ss[v] + C(A2) * P(p, 1))
  TERM(B0, ss[v] + C(B0) * (P(up + j, 0) - P(up + back, 0) - P(down + j, 0) + P(down + back, 0)))
  TERM(B1, ss[v] + C(B1) * (P(p + j, 1) - P(p + back, 1) - P(p + j, -1) + P(p + back, -1)))
  TERM(B2, ss[v] + C(B2) * (P(up, 1) - P(down, 1) - P(up, -1) + P(down, -1)))
  TERM(C0, ss[v] + C(C0) * P(down, 0))
  TERM(C1, ss[v] + C(C1) * P(p + back, 0))
  TERM(C2, ss[v] + C(C2) * P(p, -1))
  TERM(WRK1, ss[v] + C(WRK1))
  TERM(A3, ss[v] * C(A3) - P(p, 0))
  TERM(BND, ss[v] * C(BND))
#undef P
#undef C
#undef TERM
}

/** Sweeps the line at element x, which the box covers whole or in part, and adds its squares to the
 * sums. With `keep`, the line stays in the caches because it is read again soon. */
static inline TARGET __attribute__((always_inline)) void FN(line)(const float *const *c, int64_t pitch,
                                                                  const struct FN(place) * at,
                                                                  const struct FN(row) * row, int64_t x,
                                                                  int keep, int by_row, VD sums[2])
{
  const float *p = (const float *)(const void *)at->p;
  float *out = at->out;
  VF ss[VECTORS];

  FN(residual)(c, pitch, at, row, x, by_row, ss);
  if (__builtin_expect(x < row->first || x + LINE > row->end, 0)) {
    EACH
    {
      const VI lane = LANE_NUMBERS + (int)(x + v * LANES - row->first);
      const VI inside = (lane >= 0) & (lane < (int)(row->end - row->first));
      const VF old = LOAD(p + v * LANES), value = old + HIMENO_OMEGA * ss[v];
      if (row->whole)
        STORE_STREAM(out + v * LANES, (VF)(((VI)value & inside) | ((VI)old & ~inside)));
      else
        STORE_MASKED(out + v * LANES, inside, value);
      ss[v] = (VF)((VI)ss[v] & inside);
    }
  } else if (keep) {
    EACH *(FN(loose) *)(out + v * LANES) = LOAD(p + v * LANES) + HIMENO_OMEGA * ss[v];
  } else {
    EACH STORE_STREAM(out + v * LANES, LOAD(p + v * LANES) + HIMENO_OMEGA * ss[v]);
  }
  EACH
  {
    ADD_SQUARE(sums[0], LOW(ss[v]));
    ADD_SQUARE(sums[1], HIGH(ss[v]));
  }
}

/** Sweeps a row; `next` is the distance from its first point to that of the row swept next. */
static inline TARGET __attribute__((always_inline)) void
FN(sweep_row)(const struct cpu_sweep *s, int64_t first, int64_t n, int64_t next, int by_row, VD sums[2])
{
  const struct FN(row) row = FN(row_of)(s->out + first, first, n, next, s->whole);

  if (!row.whole) { /* lines that are stored in part have to be read first */
    __builtin_prefetch(s->out + row.end - 1, 1, 3);
    __builtin_prefetch(s->out + first + next, 1, 3);
  }
  for (int64_t x = row.line; x < row.last; x += LINE) {
    const char *p = (const char *)(s->p + x);
    const struct FN(place) at = {p, p + 4 * s->plane, p - 4 * s->plane, s->out + x};
    FN(line)(s->coefficient, s->pitch, &at, &row, x, 0, by_row, sums);
  }
}

static inline TARGET __attribute__((always_inline)) double
FN(sweep_rows)(const struct cpu_sweep *shared, int64_t first, int64_t last, int by_row)
{
  const struct cpu_sweep copy = *shared, *const s = &copy; /* a copy that stores cannot alias */
  const struct box *b = &s->box;
  const int64_t rows = box_extent(b, 1), n = box_extent(b, 2);
  VD sums[2] = {{0}, {0}};
  double sum = 0;

  const int64_t blocks = (rows + s->block - 1) / s->block, low = first / rows,
                planes = (last - 1) / rows - low + 1;
  for (int64_t m = 0; m < blocks * planes && first < last; m++) {
    const int64_t at = s->backward ? blocks * planes - 1 - m : m, i = low + at % planes;
    int64_t j = at / planes * s->block, end = j + s->block < rows ? j + s->block : rows;
    if (i * rows + j < first) j = first - i * rows;
    if (i * rows + end > last) end = last - i * rows;
    for (const int64_t begin = j; j < end; j++) {
      int64_t next = j + 1 < end ? s->pitch : (s->backward ? -s->plane : s->plane) - (j - begin) * s->pitch;
      int64_t point = (b->lo[0] + i) * s->plane + (b->lo[1] + j) * s->pitch + b->lo[2];
      FN(sweep_row)(s, point, n, next, by_row, sums);
    }
  }
  STREAM_FENCE();
  sums[0] += sums[1];
  for (int lane = 0; lane < LANES / 2; lane++) sum += sums[0][lane];
  return sum;
}

static TARGET double FN(sweep)(const struct cpu_sweep *sweep, int64_t first, int64_t last)
{
  return sweep->fetches ? FN(sweep_rows)(sweep, first, last, 1) : FN(sweep_rows)(sweep, first, last, 0);
}

/** Sweeps one line of a row whose planes of p need not be adjacent in memory. */
static inline TARGET __attribute__((always_inline)) void
FN(single_line)(const struct cpu_row *r, const struct FN(row) * row, int64_t x, int keep, VD sums[2])
{
  const int64_t n = x - r->x;
  const struct FN(place) at = {(const char *)(r->middle + n), (const char *)(r->above + n),
                               (const char *)(r->below + n), r->out + n};
  for (int64_t m = 0; m < r->fetches; m++) __builtin_prefetch(r->fetch[m] + n, 0, 2);
  FN(line)(r->coefficient, r->pitch, &at, row, x, keep, 0, sums);
}

static inline TARGET __attribute__((always_inline)) double FN(single)(const struct cpu_row *shared, int keep)
{
  const struct cpu_row copy = *shared, *const r = &copy; /* a copy that stores cannot alias */
  const struct FN(row) row = FN(row_of)(r->out, r->x, r->n, r->next, 0);
  VD sums[2] = {{0}, {0}};
  double sum = 0;

  __builtin_prefetch(r->out + r->n - 1, 1, 3); /* the last line is stored in part: read it first */
  for (int64_t x = row.line; x < row.last; x += LINE) FN(single_line)(r, &row, x, keep, sums);
  sums[0] += sums[1];
  for (int lane = 0; lane < LANES / 2; lane++) sum += sums[0][lane];
  return sum;
}

static TARGET double FN(row_keep)(const struct cpu_row *row)
{
  return FN(single)(row, 1);
}

static TARGET double FN(row_stream)(const struct cpu_row *row)
{
  return FN(single)(row, 0);
}

static TARGET void FN(fence)(void)
{
  STREAM_FENCE();
}

static inline TARGET __attribute__((always_inline)) void FN(fetch)(const float *line, int second)
{
  if (second)
    __builtin_prefetch(line + AHEAD_CEILING, 0, 2);
  else
    __builtin_prefetch(line + AHEAD, 0, 3);
}

static inline TARGET __attribute__((always_inline)) void
FN(sum_lines)(const struct cpu_sweep *shared, int64_t first, int64_t last, int second)
{
  const struct cpu_sweep copy = *shared, *const s = &copy;
  int64_t x = first;

  for (; x + LINE <= last; x += LINE) {
    VF sum[VECTORS];
    FN(fetch)(s->p + x, second);
    EACH sum[v] = LOAD(s->p + x + v * LANES);
#pragma GCC unroll 12
    for (int m = 0; m < HIMENO_COEFFICIENTS; m++) {
      FN(fetch)(s->coefficient[m] + x, second);
      EACH sum[v] += LOAD(s->coefficient[m] + x + v * LANES);
    }
    EACH STORE_STREAM(s->out + x + v * LANES, sum[v]);
  }
  for (; x < last; x++) {
    float sum = s->p[x];
    for (int m = 0; m < HIMENO_COEFFICIENTS; m++) sum += s->coefficient[m][x];
    s->out[x] = sum;
  }
  STREAM_FENCE();
}

static TARGET void FN(ceiling)(const struct cpu_sweep *sweep, int64_t first, int64_t last)
{
  if (sweep->fetches)
    FN(sum_lines)(sweep, first, last, 1);
  else
    FN(sum_lines)(sweep, first, last, 0);
}

static int FN(supported)(void)
{
  return SUPPORTED;
}

const struct cpu_simd SIMD = {.name = NAME,
                              .supported = FN(supported),
                              .sweep = FN(sweep),
                              .row_keep = FN(row_keep),
                              .row_stream = FN(row_stream),
                              .fence = FN(fence),
                              .ceiling = FN(ceiling)};
