/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Several sweeps in one pass over memory: each thread takes its rows from plane to plane,
 * and follows with the later sweeps one plane behind each other while the coefficients are still in
 * its caches. */
#ifndef HIMENO_KERNELS_CPU_WAVEFRONT_H
#define HIMENO_KERNELS_CPU_WAVEFRONT_H

#include "himeno/kernels/cpu/cpu_sweep.h"

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
