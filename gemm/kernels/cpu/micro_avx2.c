/* SPDX-License-Identifier: MIT */
/* AVX2 with FMA: 12 of the 16 vector registers hold sums. */
#include "gemm/kernels/cpu/micro.h"

#ifdef __x86_64__
#include <immintrin.h>

#define FN(name)     avx2_##name
#define TARGET       __attribute__((target("avx2,fma")))
#define LANES        8
#define ROWS         6
#define VECTORS      2
#define FMA(a, b, c) _mm256_fmadd_ps((a), (b), (c))
#define SPREAD(x)    _mm256_set1_ps(x)
#include "gemm/kernels/cpu/micro_body.h"

static int avx2_supported(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const struct gemm_micro gemm_micro_avx2 = {"avx2",         avx2_supported, ROWS,
                                           VECTORS *LANES, avx2_tile,      avx2_spin};
#endif
