/* SPDX-License-Identifier: MIT */
#include "tests/unit/contract.h"

int main(void)
{
  return contract_run(&gpu_backend_cuda, NULL, 0);
}
