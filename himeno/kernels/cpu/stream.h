/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The instruction sets of the `stream` kernel, one file each around stream_body.h. */
#ifndef HIMENO_KERNELS_CPU_STREAM_H
#define HIMENO_KERNELS_CPU_STREAM_H

#include <stdint.h>

#include "himeno/kernels/cpu/cpu_sweep.h"

extern const struct cpu_simd cpu_simd_generic;
#ifdef __x86_64__
extern const struct cpu_simd cpu_simd_sse2;
extern const struct cpu_simd cpu_simd_avx2;
extern const struct cpu_simd cpu_simd_avx512;
#endif

#endif
