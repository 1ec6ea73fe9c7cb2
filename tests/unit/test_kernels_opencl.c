/* SPDX-License-Identifier: MIT */
/* Checks every OpenCL kernel on the first device: as it is, with gosa from a second launch (as
 * without atomics), and with sums in two floats (as without doubles). Temporal kernels also have
 * the shapes for NVIDIA's devices, and stream also runs several sweeps per launch. */
#include "config.h"
#include "tests/unit/kernel_checks.h"

int main(void)
{
  static const char *const kernels[] = {"naive", "block16", "paced", "stream", "temporal2", "temporal3"};
  struct kernel_subject subjects[21];
  size_t n = 0;

  if (!HAVE_OPENCL) return TEST_SKIPPED;
  for (size_t k = 0; k < 6; k++) {
    subjects[n++] = (struct kernel_subject){"opencl", kernels[k], NULL, NULL};
    subjects[n++] = (struct kernel_subject){"opencl", kernels[k], "HIMENO_OPENCL_ATOMICS", "0"};
    subjects[n++] = (struct kernel_subject){"opencl", kernels[k], "HIMENO_OPENCL_FP64", "0"};
  }
  for (size_t k = 4; k < 6; k++)
    subjects[n++] = (struct kernel_subject){"opencl", kernels[k], "HIMENO_OPENCL_WIDE", "1"};
  subjects[n++] = (struct kernel_subject){"opencl", "stream", SETTING_AT_ONCE, "1"};
  return kernels_run(subjects, n);
}
