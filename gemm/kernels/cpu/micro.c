/* SPDX-License-Identifier: MIT */
#include "gemm/kernels/cpu/micro.h"

#include <string.h>

#include "base/log.h"
#include "base/switches.h"

static const struct gemm_micro *const micros[] = {
#ifdef __x86_64__
    gemm_micro_avx512,
    gemm_micro_avx2,
#endif
    gemm_micro_generic,
};

status_t gemm_micro_choose(enum gemm_type type, const struct gemm_micro **micro)
{
  const char *wanted = switch_text("HIMENO_CPU_SIMD");
  for (size_t n = 0; n < sizeof micros / sizeof *micros; n++) {
    const struct gemm_micro *one = &micros[n][type == GEMM_F64];
    if (wanted && strcmp(wanted, one->name)) continue;
    if (!one->supported()) continue;
    *micro = one;
    return STATUS_OK;
  }
  return log_fail(STATUS_ENVIRONMENT,
                  "HIMENO_CPU_SIMD=%s: this CPU does not have it, or kernel simd was not compiled for it",
                  wanted);
}
