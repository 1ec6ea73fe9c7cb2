/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Sweeps on host memory, a range of rows at a time: the caller shares the rows among
 * threads. */
#ifndef HIMENO_KERNELS_CPU_CPU_SWEEP_H
#define HIMENO_KERNELS_CPU_CPU_SWEEP_H

#include "comm/halo/decomp.h"
#include "himeno/problem.h"

/** One sweep of a box. Arrays start at multiples of 64 bytes, in the layout of
 * comm/halo/decomp.h. */
struct cpu_sweep {
  const float *coefficient[HIMENO_COEFFICIENTS];
  const float *p; /**< read */
  float *out;     /**< written, on the points of the box only unless `whole` */
  int64_t pitch, plane;
  struct box box; /**< local indices */
  /** rows in j that are swept over all planes before the next ones: p stays in cache */
  int64_t block;
  /** through planes and blocks of rows: what the sweep before touched last may still be cached */
  int backward;
  /** the rest of the cache lines that rows of the box begin and end in is alike in p and out, and
   * may be written */
  int whole;
  int fetches; /**< whether the second cache fetches the row that is swept next: see cpu_fetches */
};

/** \brief Sweeps rows [first, last) of the box, counted j first, then i. Returns the sum of ss²
 * over them. */
typedef double (*cpu_sweep_rows)(const struct cpu_sweep *sweep, int64_t first, int64_t last);

/** Points of one row; the planes of p may be anywhere. Pointers are those of the first point; rows
 * of p have the arrays' pitch and begin at multiples of 64 bytes like theirs. */
struct cpu_row {
  const float *const *coefficient;     /**< the arrays */
  const float *below, *middle, *above; /**< p in plane i − 1, i, i + 1 */
  float *out;
  int64_t pitch, x, n; /**< the first point's element of the arrays, and how many points */
  /** from there to the first point of the row whose coefficients are used next */
  int64_t next;
  const float *const *fetch; /**< first points of rows that the second cache fetches meanwhile */
  int64_t fetches;           /**< how many rows */
};

/** \brief Sweeps the row. Returns the sum of ss². */
typedef double (*cpu_row_sweep)(const struct cpu_row *row);

/** \brief out = sum of the other 13 arrays for elements [first, last), the field's padding
 * included. */
typedef void (*cpu_ceiling_range)(const struct cpu_sweep *sweep, int64_t first, int64_t last);

/** \brief The plain loop that all others are compared with. */
double cpu_reference_rows(const struct cpu_sweep *sweep, int64_t first, int64_t last);

/** \brief The same rounded toward zero, denormals taken for zero: what a QPU must give. NaN where
 * this host cannot. */
double cpu_toward_zero_rows(const struct cpu_sweep *sweep, int64_t first, int64_t last);

/** One instruction set. */
struct cpu_simd {
  const char *name;
  int (*supported)(void);
  cpu_sweep_rows sweep;
  cpu_row_sweep row_keep, row_stream; /**< out stays in the caches; goes past them */
  void (*fence)(void);                /**< what row_stream wrote is complete when it returns */
  cpu_ceiling_range ceiling;
};

extern const struct cpu_simd cpu_simd_generic;
#ifdef __x86_64__
extern const struct cpu_simd cpu_simd_sse2, cpu_simd_avx2, cpu_simd_avx512;
#endif

/** \brief The n-th compiled set, widest first; the last, "generic", runs everywhere. NULL past the
 * end. */
const struct cpu_simd *cpu_simd_at(int n);

/** \brief The widest one that this CPU has, or the one that HIMENO_CPU_SIMD names: STATUS_USAGE if
 * there is none of that name, STATUS_ENVIRONMENT if this CPU does not have it. */
status_t cpu_simd_choose(const struct cpu_simd **simd);

/** \brief Whether a kernel gains if the second cache fetches the data used next: not on Intel,
 * whose prefetchers follow all streams of a row by themselves (on a Xeon four sweeps per pass took
 * 1.2 times as long with it). */
int cpu_fetches(void);

#define CPU_WAVEFRONT_SWEEPS 4 /**< at most */

struct cpu_wavefront;

/** \brief Room for \a sweeps sweeps of the layout's boxes by \a threads threads. STATUS_ENVIRONMENT
 * without memory. */
status_t cpu_wavefront_open(const struct layout *layout, const struct cpu_simd *simd, int sweeps, int threads,
                            struct cpu_wavefront **wavefront);
void cpu_wavefront_close(struct cpu_wavefront *wavefront);

/** \brief All sweeps over the box of \a sweep, which needs as many valid points of p around it, as
 * far as the array goes. Adds each sweep's gosa to gosa[0], gosa[1], … */
void cpu_wavefront_pass(struct cpu_wavefront *wavefront, const struct cpu_sweep *sweep, double *gosa);

#endif
