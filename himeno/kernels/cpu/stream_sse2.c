/* SPDX-License-Identifier: MIT */
/* SSE2: every x86-64. */
#include "himeno/kernels/cpu/stream.h"

#ifdef __x86_64__
#include <immintrin.h>

#define FN(name)                 sse2_##name
#define TARGET                   __attribute__((target("sse2")))
#define LANES                    4
#define LOW(v)                   _mm_cvtps_pd(v)
#define HIGH(v)                  _mm_cvtps_pd(_mm_movehl_ps((v), (v)))
#define STORE_STREAM(address, v) _mm_stream_ps((address), (v))
#define STREAM_FENCE()           _mm_sfence()
#define LANE_NUMBERS             ((VI){0, 1, 2, 3})
#define STORE_MASKED(address, inside, v)                                                                     \
  do {                                                                                                       \
    for (int lane_ = 0; lane_ < LANES; lane_++)                                                              \
      if ((inside)[lane_]) (address)[lane_] = (v)[lane_];                                                    \
  } while (0)
#define PIN(v)             __asm__("" : "+x"(v))
#define ADD_SQUARE(sum, v) ((sum) += (v) * (v))
#include "himeno/kernels/cpu/stream_body.h"

static int supported(void)
{
  return __builtin_cpu_supports("sse2");
}

const struct cpu_simd cpu_simd_sse2 = {.name = "sse2",
                                       .supported = supported,
                                       .sweep = sse2_sweep,
                                       .row_keep = sse2_row_keep,
                                       .row_stream = sse2_row_stream,
                                       .fence = sse2_fence,
                                       .ceiling = sse2_ceiling};
#endif
