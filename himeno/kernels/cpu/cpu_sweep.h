/* SPDX-License-Identifier: MIT */
/** \file \brief Sweeps on host memory, a range of rows at a time: the caller divides rows among
 * threads. */
#ifndef HIMENO_KERNELS_CPU_CPU_SWEEP_H
#define HIMENO_KERNELS_CPU_CPU_SWEEP_H

#include "comm/halo/decomp.h"
#include "himeno/problem.h"

/** One sweep of a box. Arrays are aligned to 64 bytes, in the layout of comm/halo/decomp.h. */
struct cpu_sweep {
  const float *coefficient[HIMENO_COEFFICIENTS];
  const float *p; /**< field to read */
  float *out;     /**< field to write, only on the points of the box unless `whole` */
  int64_t pitch, plane;
  struct box box; /**< local indices */
  /** number of rows in j that are swept over all planes before the next rows, so that p stays in
   * cache */
  int64_t block;
  /** 1: planes and blocks of rows are swept in reverse order, because data that the previous sweep
   * used last may still be in cache */
  int backward;
  /** 1: cache lines that the box covers in part may be written whole, because p and out are equal
   * outside of the box */
  int whole;
  int fetches; /**< 1: the next row is prefetched into L2, see cpu_fetches */
};

/** \brief Sweeps rows [first, last) of the box, in order of j, then i. Returns their sum of ss². */
typedef double (*cpu_sweep_rows)(const struct cpu_sweep *sweep, int64_t first, int64_t last);

/** The points of one row. The three planes of p need not be adjacent in memory. Pointers refer to
 * the row's first point. Rows of p have the pitch of the arrays and are aligned to 64 bytes. */
struct cpu_row {
  const float *const *coefficient;     /**< pointers to the arrays */
  const float *below, *middle, *above; /**< p in plane i − 1, i, i + 1 */
  float *out;
  int64_t pitch, x, n; /**< x: index of the first point in the arrays; n: number of points */
  /** distance to the first point of the row whose coefficients are used next */
  int64_t next;
  const float *const *fetch; /**< first points of other rows, to prefetch into L2 meanwhile */
  int64_t fetches;           /**< number of rows in `fetch` */
};

/** \brief Sweeps the row. Returns the sum of ss². */
typedef double (*cpu_row_sweep)(const struct cpu_row *row);

/** \brief out = sum of the other 13 arrays for elements [first, last), padding included. */
typedef void (*cpu_ceiling_range)(const struct cpu_sweep *sweep, int64_t first, int64_t last);

/** \brief Sweeps rows by the plain loop with which all other kernels are compared. */
double cpu_reference_rows(const struct cpu_sweep *sweep, int64_t first, int64_t last);

/** \brief Like cpu_reference_rows, but rounds toward zero and treats denormals as zero, as a QPU
 * does. Returns NaN if this host cannot do that. */
double cpu_toward_zero_rows(const struct cpu_sweep *sweep, int64_t first, int64_t last);

/** The functions for one instruction set. */
struct cpu_simd {
  const char *name;
  int (*supported)(void);
  cpu_sweep_rows sweep;
  /** row_keep stores `out` through the caches; row_stream bypasses them */
  cpu_row_sweep row_keep, row_stream;
  void (*fence)(void); /**< completes the stores of row_stream */
  cpu_ceiling_range ceiling;
};

extern const struct cpu_simd cpu_simd_generic;
#ifdef __x86_64__
extern const struct cpu_simd cpu_simd_sse2, cpu_simd_avx2, cpu_simd_avx512;
#endif

/** \brief Returns the n-th compiled instruction set, widest first, or NULL after the last. The last
 * one, "generic", runs everywhere. */
const struct cpu_simd *cpu_simd_at(int n);

/** \brief Chooses the widest instruction set of this CPU, or the one in HIMENO_CPU_SIMD. Returns
 * STATUS_USAGE if that name is unknown, STATUS_ENVIRONMENT if this CPU does not have it. */
status_t cpu_simd_choose(const struct cpu_simd **simd);

/** \brief Returns whether prefetching the next data into L2 makes kernels faster. It does not on
 * Intel, whose hardware prefetchers follow all streams of a row: on a Xeon, four sweeps per pass
 * took 1.2 times as long. */
int cpu_fetches(void);

#define CPU_WAVEFRONT_SWEEPS 4 /**< maximum number of sweeps per pass */

struct cpu_wavefront;

/** \brief Allocates memory for passes of \a sweeps sweeps over boxes of the layout by \a threads
 * threads. Returns STATUS_ENVIRONMENT if memory ran out. */
status_t cpu_wavefront_open(const struct layout *layout, const struct cpu_simd *simd, int sweeps, int threads,
                            struct cpu_wavefront **wavefront);
void cpu_wavefront_close(struct cpu_wavefront *wavefront);

/** \brief Does all sweeps over the box of \a sweep. Around the box, p must be valid on as many
 * points as there are sweeps, within the array. Adds each sweep's gosa to gosa[0], gosa[1], … */
void cpu_wavefront_pass(struct cpu_wavefront *wavefront, const struct cpu_sweep *sweep, double *gosa);

#endif
