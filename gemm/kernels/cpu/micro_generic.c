/* SPDX-License-Identifier: MIT */
/* Vectors of four floats on any machine: 8 of at least 16 vector registers hold sums. */
#include "gemm/kernels/cpu/micro.h"

#define FN(name) generic_##name
#define TARGET
#define LANES        4
#define ROWS         4
#define VECTORS      2
#define FMA(a, b, c) ((a) * (b) + (c))
#define SPREAD(x)    ((VF){(x), (x), (x), (x)})
#include "gemm/kernels/cpu/micro_body.h"

static int generic_supported(void)
{
  return 1;
}

const struct gemm_micro gemm_micro_generic = {"generic",      generic_supported, ROWS,
                                              VECTORS *LANES, generic_tile,      generic_spin};
