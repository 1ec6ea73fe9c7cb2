/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The vector sweep and the ceiling kernel, included once an instruction set.
 *
 * The includer defines FN(name) (its name for a function), TARGET (function attribute), LANES (floats a vector),
 * LOW(v) and HIGH(v) (halves of a float vector as doubles), LANE_NUMBERS (an int vector 0, 1, …), STORE_STREAM(address,
 * v), a store past the caches, STREAM_FENCE(), which ends a series of them, and STORE_MASKED(address, inside, v), which
 * writes the lanes whose bits are set in the int vector `inside` and touches no other.
 *
 * Rows are walked by cache lines of 16 floats. Whole lines are stored past the caches, which saves reading them first; a
 * line that the box covers in part goes through the cache, since a line written both ways would travel twice. */

#define LINE 16
/** Floats that are fetched ahead of use: hardware prefetchers follow fewer streams than the 13 there are. */
#define AHEAD 256

typedef float FN(vector) __attribute__((vector_size(4 * LANES)));
typedef float FN(loose) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef double FN(wide) __attribute__((vector_size(4 * LANES)));
typedef int FN(ints) __attribute__((vector_size(4 * LANES)));

#define VF FN(vector)
#define VD FN(wide)
#define VI FN(ints)
#define LOAD(address) ((VF) * (const FN(loose) *)(address))

/** The residual of LANES points from element x on. */
static inline TARGET __attribute__((always_inline)) VF FN(residual)(const struct cpu_sweep *s, int64_t x)
{
  const float *const *c = s->coefficient;
  const int64_t I = s->plane, J = s->pitch;
  const float *p = s->p + x, *up = p + I, *down = p - I;
#define C(array) LOAD(c[HIMENO_##array] + x)
  VF s0 = C(A0) * LOAD(up) + C(A1) * LOAD(p + J) + C(A2) * LOAD(p + 1) +
          C(B0) * (LOAD(up + J) - LOAD(up - J) - LOAD(down + J) + LOAD(down - J)) +
          C(B1) * (LOAD(p + J + 1) - LOAD(p - J + 1) - LOAD(p + J - 1) + LOAD(p - J - 1)) +
          C(B2) * (LOAD(up + 1) - LOAD(down + 1) - LOAD(up - 1) + LOAD(down - 1)) + C(C0) * LOAD(down) +
          C(C1) * LOAD(p - J) + C(C2) * LOAD(p - 1) + C(WRK1);
  return (s0 * C(A3) - LOAD(p)) * C(BND);
#undef C
}

/** Fetches the line AHEAD of element x in all streams that come from memory. */
static inline TARGET __attribute__((always_inline)) void FN(fetch)(const struct cpu_sweep *s, const float *p, int64_t x)
{
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) __builtin_prefetch(s->coefficient[m] + x + AHEAD, 0, 0);
  __builtin_prefetch(p + x + AHEAD, 0, 3);
}

/** Floats between the start of its cache line and an address. */
static inline int64_t FN(skew)(const float *address)
{
  return (int64_t)((uintptr_t)address / sizeof *address % LINE);
}

/** One row of n points from element `first` on. */
static inline TARGET __attribute__((always_inline)) VD FN(row)(const struct cpu_sweep *s, int64_t first, int64_t n)
{
  VD low = {0}, high = {0};

  for (int64_t x = first - FN(skew)(s->out + first); x < first + n; x += LINE) {
    const int whole = x >= first && x + LINE <= first + n;
    FN(fetch)(s, s->p + s->plane, x);
#pragma GCC unroll 4
    for (int start = 0; start < LINE; start += LANES) {
      const VI lane = LANE_NUMBERS + (int)(x + start - first), inside = (lane >= 0) & (lane < (int)n);
      VF ss = FN(residual)(s, x + start);
      if (!whole) ss = (VF)((VI)ss & inside);
      low += LOW(ss) * LOW(ss);
      high += HIGH(ss) * HIGH(ss);
      VF value = LOAD(s->p + x + start) + HIMENO_OMEGA * ss;
      if (whole)
        STORE_STREAM(s->out + x + start, value);
      else
        STORE_MASKED(s->out + x + start, inside, value);
    }
  }
  return low + high;
}

static TARGET double FN(sweep)(const struct cpu_sweep *shared, int64_t first, int64_t last)
{
  const struct cpu_sweep copy = *shared, *const s = &copy; /* no store can change it, so its pointers stay loaded */
  const struct box *b = &s->box;
  const int64_t rows = box_extent(b, 1), n = box_extent(b, 2);
  VD sums = {0};
  double sum = 0;

  for (int64_t block = 0; block < rows; block += s->block)
    for (int64_t i = first / rows; i * rows < last; i++) {
      int64_t j = block, end = block + s->block < rows ? block + s->block : rows;
      if (i * rows + j < first) j = first - i * rows;
      if (i * rows + end > last) end = last - i * rows;
      for (; j < end; j++)
        sums += FN(row)(s, (b->lo[0] + i) * s->plane + (b->lo[1] + j) * s->pitch + b->lo[2], n);
    }
  STREAM_FENCE();
  for (int lane = 0; lane < LANES / 2; lane++) sum += sums[lane];
  return sum;
}

static TARGET void FN(ceiling)(const struct cpu_sweep *s, int64_t first, int64_t last)
{
  int64_t x = first;
  for (; x + LINE <= last; x += LINE) {
    FN(fetch)(s, s->p, x);
    for (int start = 0; start < LINE; start += LANES) {
      VF sum = LOAD(s->p + x + start);
      for (int m = 0; m < HIMENO_COEFFICIENTS; m++) sum += LOAD(s->coefficient[m] + x + start);
      STORE_STREAM(s->out + x + start, sum);
    }
  }
  for (; x < last; x++) {
    float sum = s->p[x];
    for (int m = 0; m < HIMENO_COEFFICIENTS; m++) sum += s->coefficient[m][x];
    s->out[x] = sum;
  }
  STREAM_FENCE();
}
