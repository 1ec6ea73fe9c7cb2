/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The tensor-core rungs of the CUDA set, and the packed half rung below them. */
#ifndef GEMM_KERNELS_CUDA_TENSOR_TENSOR_KERNELS_H
#define GEMM_KERNELS_CUDA_TENSOR_TENSOR_KERNELS_H

#include "gemm/kernels/kernels.h"

extern const struct gemm_kernel gemm_cuda_f16x2;
extern const struct gemm_kernel gemm_cuda_wmma, gemm_cuda_wmma_32x8, gemm_cuda_wmma_8x32;
extern const struct gemm_kernel gemm_cuda_mma;
extern const struct gemm_kernel gemm_cuda_wgmma;
extern const struct gemm_kernel gemm_cuda_sgemm_tc;

#endif
