/* SPDX-License-Identifier: MIT */
#include "tests/unit/contract.h"

#include <stdlib.h>

#include "base/log.h"
#include "gpu/qpu/device.h"

TEST(the_device_is_known_as_emulated)
{
  struct gpu_device_info *infos;
  char reason[GPU_TEXT_MAX];
  int n;
  gpu_backend_qpu.probe(&infos, &n, reason);
  assert_int_equal(n, 1);
  assert_true(infos->emulated && infos->is_cpu && !infos->fp64);
  assert_int_equal(infos->compute_units, 12);
  free(infos);
}

TEST(memory_that_was_freed_is_used_again_and_forbidden_till_then)
{
  struct gpu_device *device;
  struct gpu_mem first, second, third;
  uint32_t at_first, at_third, address;
  log_hold(1);
  assert_int_equal(gpu_open(&gpu_backend_qpu, 0, &device), STATUS_OK);
  assert_int_equal(gpu_alloc(device, 100, &first), STATUS_OK);
  assert_int_equal(gpu_alloc(device, 100, &second), STATUS_OK);
  assert_int_equal(qpu_device_address(device, first.handle, &at_first), STATUS_OK);
  void *stale = first.handle;
  gpu_free(device, &first);
  expect_failure(qpu_device_address(device, stale, &address), STATUS_FAULT);
  assert_int_equal(gpu_alloc(device, 90, &third), STATUS_OK);
  assert_int_equal(qpu_device_address(device, third.handle, &at_third), STATUS_OK);
  assert_int_equal(at_third, at_first);
  assert_int_equal(qpu_device_address(device, (char *)third.handle + 89, &address), STATUS_OK);
  assert_int_equal(address, at_third + 89);
  gpu_free(device, &third);
  gpu_free(device, &second);
  gpu_close(device);
  log_hold(0);
}

int main(void)
{
  setenv("HIMENO_QPU", "emulator", 1);
  return contract_run(&gpu_backend_qpu, unit_list()->test, unit_list()->n);
}
