/* SPDX-License-Identifier: MIT */
/* AVX2 with FMA: 12 of the 16 vector registers hold sums. */
#include "gemm/kernels/cpu/micro.h"

#ifdef __x86_64__
#include <immintrin.h>

#define TARGET  __attribute__((target("avx2,fma")))
#define ROWS    6
#define VECTORS 2

#define NUMBER       float
#define FN(name)     avx2_##name
#define LANES        8
#define FMA(a, b, c) _mm256_fmadd_ps((a), (b), (c))
#define SPREAD(x)    _mm256_set1_ps(x)
#include "gemm/kernels/cpu/micro_body.h"

#define NUMBER       double
#define FN(name)     avx2_f64_##name
#define LANES        4
#define FMA(a, b, c) _mm256_fmadd_pd((a), (b), (c))
#define SPREAD(x)    _mm256_set1_pd(x)
#include "gemm/kernels/cpu/micro_body.h"

static int avx2_supported(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const struct gemm_micro gemm_micro_avx2[2] = {
    {"avx2", avx2_supported, ROWS, VECTORS * 8, avx2_tile, avx2_spin},
    {"avx2", avx2_supported, ROWS, VECTORS * 4, avx2_f64_tile, avx2_f64_spin},
};
#endif
