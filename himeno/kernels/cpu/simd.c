/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/log.h"
#include "base/switches.h"
#include "himeno/kernels/cpu/cpu_sweep.h"

SWITCH("HIMENO_CPU_FETCH", TUNING, AGREED, CHOICE("0|1"),
       "1: CPU kernels prefetch the next row into L2; 0: they do not; unset: 1 except on Intel CPUs");

static const struct cpu_simd *const simds[] = {
#ifdef __x86_64__
    &cpu_simd_avx512,
    &cpu_simd_avx2,
    &cpu_simd_sse2,
#endif
    &cpu_simd_generic,
};

const struct cpu_simd *cpu_simd_at(int n)
{
  return n >= 0 && n < (int)(sizeof simds / sizeof *simds) ? simds[n] : NULL;
}

status_t cpu_simd_choose(const struct cpu_simd **simd)
{
  const char *wanted = switch_text("HIMENO_CPU_SIMD");
  const struct cpu_simd *s;

  for (int n = 0; (s = cpu_simd_at(n)); n++) {
    if (wanted && strcmp(wanted, s->name)) continue;
    if (s->supported()) {
      *simd = s;
      return STATUS_OK;
    }
    if (wanted) return log_fail(STATUS_ENVIRONMENT, "HIMENO_CPU_SIMD=%s: this CPU does not have it", wanted);
  }
  return log_fail(STATUS_USAGE, "HIMENO_CPU_SIMD=%s: no such instruction set was compiled",
                  wanted ? wanted : "");
}

int cpu_fetches(void)
{
  int fetches = 1;
#ifdef __x86_64__
  __builtin_cpu_init();
  fetches = !__builtin_cpu_is("intel");
#endif
  return (int)switch_number("HIMENO_CPU_FETCH", fetches);
}
