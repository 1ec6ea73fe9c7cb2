/* SPDX-License-Identifier: MIT */
#include "gemm/kernels/cpu/cpu_gemm.h"

static const struct gemm_kernel *const kernels[] = {
    &gemm_cpu_naive,
    &gemm_cpu_blocked,
    &gemm_cpu_simd,
#if HAVE_CBLAS
    &gemm_cpu_cblas,
#endif
};

const struct gemm_kernel_set gemm_kernels_cpu = {
    .backend = "cpu",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
    .ceilings = gemm_cpu_ceilings,
};
