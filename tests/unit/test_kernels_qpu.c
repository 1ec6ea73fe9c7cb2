/* SPDX-License-Identifier: MIT */
#include "tests/unit/kernel_checks.h"

int main(void)
{
  static const struct kernel_subject subjects[] = {{"qpu", "naive", NULL, NULL},
                                                   {"qpu", "stream", NULL, NULL}};
  setenv("HIMENO_QPU", "emulator", 1);
  return kernels_run(subjects, sizeof subjects / sizeof *subjects);
}
