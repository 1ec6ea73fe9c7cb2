/* SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "himeno/cpu/cpu_sweep.h"
#include "tests/unit/kernels.h"

#define SETTING "HIMENO_CPU_SIMD"
#define MAX     16

int main(void)
{
  struct kernel_subject subjects[MAX] = {{"cpu", "reference", NULL, NULL}};
  const struct cpu_simd *simd;
  size_t n = 1;

  for (int level = 0; (simd = cpu_simd_at(level)); level++)
    if (simd->supported()) subjects[n++] = (struct kernel_subject){"cpu", "stream", SETTING, simd->name};
  return kernels_run(subjects, n);
}
