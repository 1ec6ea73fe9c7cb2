/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Kernels of the CUDA set. */
#ifndef GEMM_KERNELS_CUDA_CUDA_GEMM_H
#define GEMM_KERNELS_CUDA_CUDA_GEMM_H

#include "config.h"
#include "gemm/kernels/kernels.h"

/* float32, by the rungs of fp32.c */
extern const struct gemm_kernel gemm_cuda_naive, gemm_cuda_regblock, gemm_cuda_local, gemm_cuda_unroll,
    gemm_cuda_pipeline, gemm_cuda_lds_pipeline, gemm_cuda_warptile;

#if HAVE_CUBLAS
extern const struct gemm_kernel gemm_cuda_cublas;
#endif

/** \brief As gemm_kernel_set.ceilings. */
status_t gemm_cuda_ceilings(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                            struct gemm_ceilings *ceilings);

#endif
