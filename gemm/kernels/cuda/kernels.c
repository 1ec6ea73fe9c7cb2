/* SPDX-License-Identifier: MIT */
/* The CUDA set. Kernels stand beside their code in gemm/kernels/cuda/. */
#include "gemm/kernels/cuda/cuda_gemm.h"
#include "gemm/kernels/cuda/tensor/tensor_kernels.h"

static const struct gemm_kernel *const kernels[] = {
    &gemm_cuda_naive,        &gemm_cuda_regblock, &gemm_cuda_local, &gemm_cuda_unroll,   &gemm_cuda_pipeline,
    &gemm_cuda_lds_pipeline, &gemm_cuda_warptile, &gemm_cuda_f16x2, &gemm_cuda_wmma,     &gemm_cuda_wmma_32x8,
    &gemm_cuda_wmma_8x32,    &gemm_cuda_mma,      &gemm_cuda_wgmma, &gemm_cuda_sgemm_tc,
#if HAVE_CUBLAS
    &gemm_cuda_cublas,
#endif
};

const struct gemm_kernel_set gemm_kernels_cuda = {
    .backend = "cuda",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
    .ceilings = gemm_cuda_ceilings,
};
