/* SPDX-License-Identifier: MIT */
#include "tests/unit/kernel_checks.h"

int main(void)
{
  static const struct kernel_subject subject = {"null", "reference", NULL, NULL};
  return kernels_run(&subject, 1);
}
