/* SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "himeno/kernels/cpu/cpu_sweep.h"
#include "tests/unit/kernel_checks.h"

#define SETTING "HIMENO_CPU_SIMD"
#define MAX     20

int main(void)
{
  struct kernel_subject subjects[MAX] = {{"cpu", "reference", NULL, NULL}};
  static const char *const wavefronts[] = {"wavefront", "wavefront3", "wavefront4"};
  const struct cpu_simd *simd;
  size_t n = 1;

  for (int level = 0; (simd = cpu_simd_at(level)); level++)
    if (simd->supported()) {
      subjects[n++] = (struct kernel_subject){"cpu", "stream", SETTING, simd->name};
      subjects[n++] = (struct kernel_subject){"cpu", "wavefront", SETTING, simd->name};
    }
  for (int fetch = 0; fetch < 2; fetch++) { /* without and with prefetches, as CPUs differ */
    const char *setting = fetch ? "1" : "0";
    subjects[n++] = (struct kernel_subject){"cpu", "stream", "HIMENO_CPU_FETCH", setting};
    subjects[n++] = (struct kernel_subject){"cpu", "wavefront3", "HIMENO_CPU_FETCH", setting};
  }
  for (int k = 0; k < 3; k++) {
    subjects[n++] = (struct kernel_subject){"cpu", wavefronts[k], NULL, NULL};
    /* many blocks */
    subjects[n++] = (struct kernel_subject){"cpu", wavefronts[k], "HIMENO_CPU_CACHE", "1"};
  }
  return kernels_run(subjects, n);
}
