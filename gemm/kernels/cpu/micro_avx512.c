/* SPDX-License-Identifier: MIT */
/* AVX-512: 24 of the 32 vector registers hold sums. */
#include "gemm/kernels/cpu/micro.h"

#ifdef __x86_64__
#include <immintrin.h>

#define TARGET  __attribute__((target("avx512f")))
#define ROWS    12
#define VECTORS 2

#define NUMBER       float
#define FN(name)     avx512_##name
#define LANES        16
#define FMA(a, b, c) _mm512_fmadd_ps((a), (b), (c))
#define SPREAD(x)    _mm512_set1_ps(x)
#include "gemm/kernels/cpu/micro_body.h"

#define NUMBER       double
#define FN(name)     avx512_f64_##name
#define LANES        8
#define FMA(a, b, c) _mm512_fmadd_pd((a), (b), (c))
#define SPREAD(x)    _mm512_set1_pd(x)
#include "gemm/kernels/cpu/micro_body.h"

static int avx512_supported(void)
{
  return __builtin_cpu_supports("avx512f");
}

const struct gemm_micro gemm_micro_avx512[2] = {
    {"avx512", avx512_supported, ROWS, VECTORS * 16, avx512_tile, avx512_spin},
    {"avx512", avx512_supported, ROWS, VECTORS * 8, avx512_f64_tile, avx512_f64_spin},
};
#endif
