/* SPDX-License-Identifier: MIT */
/* SSE2, which every x86-64 CPU has. */
#include "himeno/kernels/cpu/cpu_sweep.h"

#ifdef __x86_64__
#include <immintrin.h>

#define FN(name)                 sse2_##name
#define SIMD                     cpu_simd_sse2
#define NAME                     "sse2"
#define SUPPORTED                __builtin_cpu_supports("sse2")
#define TARGET                   __attribute__((target("sse2")))
#define LANES                    4
#define LOW(v)                   _mm_cvtps_pd(v)
#define HIGH(v)                  _mm_cvtps_pd(_mm_movehl_ps((v), (v)))
#define STORE_STREAM(address, v) _mm_stream_ps((address), (v))
#define STREAM_FENCE()           _mm_sfence()
#define LANE_NUMBERS             ((VI){0, 1, 2, 3})
#define PIN(v)                   __asm__("" : "+x"(v))
#define ADD_SQUARE(sum, v)       ((sum) += (v) * (v))
#include "himeno/kernels/cpu/stream_body.h"
#endif
