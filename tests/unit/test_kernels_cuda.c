/* SPDX-License-Identifier: MIT */
/* Checks every CUDA kernel on the first device. Temporal kernels also run as on chips before
 * Hopper. */
#include "tests/unit/kernel_checks.h"

#define SUBJECTS_MAX 64

int main(void)
{
  const struct himeno_kernel_set *set = himeno_kernels_find("cuda");
  struct kernel_subject subjects[SUBJECTS_MAX];
  size_t n = 0;

  if (!set) return TEST_SKIPPED;
  for (int k = 0; k < set->n && n < SUBJECTS_MAX - 1; k++) {
    subjects[n++] = (struct kernel_subject){"cuda", set->kernels[k].name, NULL, NULL};
    if (set->kernels[k].sweeps > 1)
      subjects[n++] = (struct kernel_subject){"cuda", set->kernels[k].name, "HIMENO_CUDA_BULK", "0"};
  }
  return kernels_run(subjects, n);
}
