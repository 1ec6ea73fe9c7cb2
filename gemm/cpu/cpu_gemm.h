/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Kernels on host memory. */
#ifndef GEMM_CPU_CPU_GEMM_H
#define GEMM_CPU_CPU_GEMM_H

#include "config.h"
#include "gemm/kernels.h"

extern const struct gemm_kernel gemm_cpu_naive;
extern const struct gemm_kernel gemm_cpu_blocked;
extern const struct gemm_kernel gemm_cpu_simd;
#if HAVE_CBLAS
extern const struct gemm_kernel gemm_cpu_cblas;
#endif

/** \brief Multiply-adds in registers on all threads, operations a second; 0 when memory ran out. */
double gemm_cpu_peak(void);

#endif
