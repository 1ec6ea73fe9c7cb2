/* SPDX-License-Identifier: MIT */
/* Vectors of 16 bytes on any machine: 8 of at least 16 vector registers hold sums. */
#include "gemm/kernels/cpu/micro.h"

#define TARGET
#define ROWS    4
#define VECTORS 2

#define NUMBER       float
#define FN(name)     generic_##name
#define LANES        4
#define FMA(a, b, c) ((a) * (b) + (c))
#define SPREAD(x)    ((VF){(x), (x), (x), (x)})
#include "gemm/kernels/cpu/micro_body.h"

#define NUMBER       double
#define FN(name)     generic_f64_##name
#define LANES        2
#define FMA(a, b, c) ((a) * (b) + (c))
#define SPREAD(x)    ((VF){(x), (x)})
#include "gemm/kernels/cpu/micro_body.h"

static int generic_supported(void)
{
  return 1;
}

const struct gemm_micro gemm_micro_generic[2] = {
    {"generic", generic_supported, ROWS, VECTORS * 4, generic_tile, generic_spin},
    {"generic", generic_supported, ROWS, VECTORS * 2, generic_f64_tile, generic_f64_spin},
};
