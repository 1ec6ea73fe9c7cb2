/* SPDX-License-Identifier: MIT */
/* AVX2 without FMA: contraction would change the results of the sweep. */
#include "himeno/kernels/cpu/cpu_sweep.h"

#ifdef __x86_64__
#include <immintrin.h>

#define FN(name)                         avx2_##name
#define SIMD                             cpu_simd_avx2
#define NAME                             "avx2"
#define SUPPORTED                        __builtin_cpu_supports("avx2")
#define TARGET                           __attribute__((target("avx2")))
#define LANES                            8
#define LOW(v)                           _mm256_cvtps_pd(_mm256_castps256_ps128(v))
#define HIGH(v)                          _mm256_cvtps_pd(_mm256_extractf128_ps((v), 1))
#define STORE_STREAM(address, v)         _mm256_stream_ps((address), (v))
#define STREAM_FENCE()                   _mm_sfence()
#define LANE_NUMBERS                     ((VI){0, 1, 2, 3, 4, 5, 6, 7})
#define STORE_MASKED(address, inside, v) _mm256_maskstore_ps((address), (__m256i)(inside), (v))
#define PIN(v)                           __asm__("" : "+x"(v))
#define ADD_SQUARE(sum, v)               ((sum) += (v) * (v))
#include "himeno/kernels/cpu/stream_body.h"
#endif
