/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The vector sweep and the ceiling kernel, included once an instruction set.
 *
 * The includer defines SIMD (the set's variable), NAME (its name in words), SUPPORTED (whether this
 * CPU has it), FN(name) (its name for a function), TARGET (function attribute), LANES (floats a
 * vector), LOW(v) and HIGH(v) (halves of a float vector as doubles), LANE_NUMBERS (an int vector 0,
 * 1, …), STORE_STREAM(address, v), a store past the caches, STREAM_FENCE(), which ends a series of
 * them, STORE_MASKED(address, inside, v), which writes the lanes whose bits are set in the int
 * vector `inside` and touches no other (lane by lane where it is left out), PIN(v), which keeps the
 * compiler from moving what makes v to a later place, and ADD_SQUARE(sum, v), which adds the square
 * of each double of v to sum: exact in double for what was a float, so that a fused multiply-add
 * gives the same bits.
 *
 * Rows are walked by cache lines of 16 floats. Whole lines are stored past the caches, which saves
 * reading them first. A line that the box covers in part is stored whole if the sweep may write
 * the rest (see cpu_sweep); otherwise it goes through the cache, because a line stored partly past
 * the caches would be transferred twice. */

#ifndef STORE_MASKED
#define STORE_MASKED(address, inside, v)                                                                     \
  do {                                                                                                       \
    for (int lane_ = 0; lane_ < LANES; lane_++)                                                              \
      if ((inside)[lane_]) (address)[lane_] = (v)[lane_];                                                    \
  } while (0)
#endif

#define LINE 16
/** How far ahead of their use lines are fetched, in floats. Hardware prefetchers follow fewer
 * streams than there are arrays here, and lose them where rows do not follow each other.
 *
 * On Intel, whose hardware prefetchers do most of the work, lines are fetched into all caches: the
 * non-temporal hint halves the rate there, because the prefetchers of L2 then see nothing. On AMD a
 * core that waits for a line fills its window with the arithmetic of a few lines and issues no more
 * fetches. There L2 prefetches the row that is swept next, which keeps memory busy, and L1 takes
 * lines from L2 shortly before their use, with the hint of a single use. */
#define AHEAD        128
#define AHEAD_SECOND 80 /* for lines that the second cache has fetched */
#define AHEAD_NEAR   32 /* for lines of p that a cache holds already */
/** For the ceiling kernel, where the second cache fetches: it has nothing else to wait for. */
#define AHEAD_CEILING 256

typedef float FN(vector) __attribute__((vector_size(4 * LANES)));
typedef float FN(loose) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef double FN(wide) __attribute__((vector_size(4 * LANES)));
typedef int FN(ints) __attribute__((vector_size(4 * LANES)));

#define VF            FN(vector)
#define VD            FN(wide)
#define VI            FN(ints)
#define LOAD(address) ((VF) * (const FN(loose) *)(address))

/** Vectors a line. They go through each term together: a pointer that is loaded serves all of them,
 * and their chains of additions overlap. */
#define VECTORS (LINE / LANES)
#define EACH    _Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++)

/** A row that is being swept. Elements count from the arrays' first. */
struct FN(row) {
  int64_t first, end; /**< what the box covers */
  int64_t line, last; /**< where its lines begin and end */
  int64_t next;       /**< from its first point to that of the row that is swept next */
  /** from where its lines end to the first line of the row that is swept next */
  int64_t skip;
  /** whether lines that the box covers in part are stored whole, with what p has there */
  int whole;
};

/** The row of n points from element `first` on, stored to `out`; `next` and `whole` as above. */
static inline TARGET __attribute__((always_inline)) struct FN(row)
    FN(row_of)(const float *out, int64_t first, int64_t n, int64_t next, int whole)
{
  const int64_t skew = (int64_t)((uintptr_t)out / sizeof(float) % LINE), line = first - skew;
  const int64_t last = line + (skew + n + LINE - 1) / LINE * LINE;
  return (struct FN(row)){first, first + n, line, last, next, line + next - last, whole};
}

/** A line of p and the same in the planes before and behind. */
struct FN(place) {
  const char *p, *up, *down;
  float *out;
};

/** Fetches lines of p: in row j + 1 (`j` bytes on) those `ahead` of this one and, if `by_row`, the
 * same of the next row. */
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

/** The residuals of the line at element x, term by term from left to right. The next row is fetched
 * with it if `by_row`. */
static inline TARGET __attribute__((always_inline)) void FN(residual)(const float *const *c, int64_t pitch,
                                                                      const struct FN(place) * at,
                                                                      const struct FN(row) * row, int64_t x,
                                                                      int by_row, VF ss[VECTORS])
{
  const int64_t ahead = by_row ? AHEAD_SECOND : x + AHEAD < row->last ? AHEAD : AHEAD + row->skip;
  const char *p = at->p, *up = at->up, *down = at->down;
  int64_t j = 4 * pitch, back = -j;
  /* Opaque, so that rows are addressed by these two and not by nine pointers that have no
   * registers. */
  __asm__("" : "+r"(j), "+r"(back));

#define P(row, dk) LOAD((row) + 4 * ((dk) + v * LANES))
#define C(array)   LOAD(line + v * LANES)
/* Arrays' addresses are loaded where they are used (volatile): kept, they would fill the vector
 * registers. */
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

/** Sweeps the line at element x, which the box covers as a whole or in part, and adds its squares
 * to the sums. Lines that are read again soon (`keep`) are kept in the caches. */
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

  if (!row.whole) { /* lines that are written in part have to be read first */
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
  const struct cpu_sweep copy = *shared, *const s =
                                             /* no store can change it, so its pointers stay
                                              * loaded */
                                         &copy;
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

/** One line of a row that stands apart. */
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
  const struct cpu_row copy = *shared, *const r = &copy; /* no store can change it */
  const struct FN(row) row = FN(row_of)(r->out, r->x, r->n, r->next, 0);
  VD sums[2] = {{0}, {0}};
  double sum = 0;

  __builtin_prefetch(r->out + r->n - 1, 1, 3); /* written in part, it has to be read first */
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
