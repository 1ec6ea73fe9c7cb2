/* SPDX-License-Identifier: MIT */
/** \file
 * \brief CBLAS on host memory, for every backend whose devices are CPUs. */
#ifndef GEMM_KERNELS_CPU_CBLAS_H
#define GEMM_KERNELS_CPU_CBLAS_H

#include "gemm/kernels/kernels.h"

/** \brief Whether CBLAS, which counts in int, can do the problem: gemm_ops.fits. */
int gemm_cblas_fits(const struct gemm_kernel *kernel, const struct gpu_device *device,
                    const struct gemm_problem *problem, char why[GPU_TEXT_MAX]);

/** \brief Starts as many threads as OpenMP has. */
void gemm_cblas_start(void);

/** \brief One product. */
void gemm_cblas(const struct gemm_problem *problem, const float *a, const float *b, float *c);

#endif
