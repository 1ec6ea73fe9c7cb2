/* SPDX-License-Identifier: MIT */
/** \file
 * \brief CBLAS on host memory, for every backend whose devices are CPUs. */
#ifndef GEMM_KERNELS_CPU_CBLAS_H
#define GEMM_KERNELS_CPU_CBLAS_H

#include "gemm/kernels/kernels.h"

/** \brief Starts as many threads as OpenMP has: gemm_ops.open. */
status_t gemm_cblas_open(struct gemm_exec *exec);

/** \brief One product. */
void gemm_cblas(const struct gemm_problem *problem, const float *a, const float *b, float *c);

#endif
