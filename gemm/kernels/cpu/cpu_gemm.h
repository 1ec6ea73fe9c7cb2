/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Kernels on host memory. */
#ifndef GEMM_KERNELS_CPU_CPU_GEMM_H
#define GEMM_KERNELS_CPU_CPU_GEMM_H

#include "config.h"
#include "gemm/kernels/kernels.h"

extern const struct gemm_kernel gemm_cpu_naive;
extern const struct gemm_kernel gemm_cpu_blocked;
extern const struct gemm_kernel gemm_cpu_simd;
#if HAVE_CBLAS
extern const struct gemm_kernel gemm_cpu_cblas;
#endif

status_t gemm_cpu_ceilings(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                           struct gemm_ceilings *ceilings);

#endif
