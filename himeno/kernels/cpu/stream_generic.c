/* SPDX-License-Identifier: MIT */
/* Any CPU: compiler vectors of 16 bytes. GCC has no portable store past the caches, clang has. */
#include "himeno/kernels/cpu/stream.h"

#define FN(name) generic_##name
#define TARGET
#define LANES   4
#define LOW(v)  ((VD){(double)(v)[0], (double)(v)[1]})
#define HIGH(v) ((VD){(double)(v)[2], (double)(v)[3]})
#ifdef __clang__
#define STORE_STREAM(address, v) __builtin_nontemporal_store((v), (VF *)(address))
#else
#define STORE_STREAM(address, v) (*(FN(loose) *)(address) = (FN(loose))(v))
#endif
#define STREAM_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define LANE_NUMBERS   ((VI){0, 1, 2, 3})
#define STORE_MASKED(address, inside, v)                                                                     \
  do {                                                                                                       \
    for (int lane_ = 0; lane_ < LANES; lane_++)                                                              \
      if ((inside)[lane_]) (address)[lane_] = (v)[lane_];                                                    \
  } while (0)
#define PIN(v)
#define ADD_SQUARE(sum, v) ((sum) += (v) * (v))
#include "himeno/kernels/cpu/stream_body.h"

static int supported(void)
{
  return 1;
}

const struct cpu_simd cpu_simd_generic = {.name = "generic",
                                          .supported = supported,
                                          .sweep = generic_sweep,
                                          .row_keep = generic_row_keep,
                                          .row_stream = generic_row_stream,
                                          .fence = generic_fence,
                                          .ceiling = generic_ceiling};
