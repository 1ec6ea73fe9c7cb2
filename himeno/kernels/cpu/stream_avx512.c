/* SPDX-License-Identifier: MIT */
/* AVX-512F: a vector has the size of a cache line. */
#include "himeno/kernels/cpu/cpu_sweep.h"

#ifdef __x86_64__
#include <immintrin.h>

#define FN(name)                 avx512_##name
#define SIMD                     cpu_simd_avx512
#define NAME                     "avx512"
#define SUPPORTED                __builtin_cpu_supports("avx512f")
#define TARGET                   __attribute__((target("avx512f")))
#define LANES                    16
#define LOW(v)                   _mm512_cvtps_pd(_mm512_castps512_ps256(v))
#define HIGH(v)                  _mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v), 1)))
#define STORE_STREAM(address, v) _mm512_stream_ps((address), (v))
#define STREAM_FENCE()           _mm_sfence()
#define LANE_NUMBERS             ((VI){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#define STORE_MASKED(address, inside, v)                                                                     \
  _mm512_mask_storeu_ps((address), _mm512_test_epi32_mask((__m512i)(inside), (__m512i)(inside)), (v))
#define PIN(v)             __asm__("" : "+x"(v))
#define ADD_SQUARE(sum, v) ((sum) = _mm512_fmadd_pd((v), (v), (sum)))
#include "himeno/kernels/cpu/stream_body.h"
#endif
