/* SPDX-License-Identifier: MIT */
/* Any CPU: compiler vectors of 16 bytes. clang has a portable store that bypasses the caches, GCC
 * does not. */
#include "himeno/kernels/cpu/cpu_sweep.h"

#define FN(name)  generic_##name
#define SIMD      cpu_simd_generic
#define NAME      "generic"
#define SUPPORTED 1
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
#define PIN(v)
#define ADD_SQUARE(sum, v) ((sum) += (v) * (v))
#include "himeno/kernels/cpu/stream_body.h"
