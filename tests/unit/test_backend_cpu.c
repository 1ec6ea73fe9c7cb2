/* SPDX-License-Identifier: MIT */
#include "tests/unit/contract.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

#define MIB ((size_t)1 << 20)

static struct gpu_device *device;

static int open_device(void **state)
{
  (void)state;
  log_hold(1);
  return gpu_open(&gpu_backend_cpu, 0, &device);
}

static int close_device(void **state)
{
  (void)state;
  gpu_close(device);
  return 0;
}

static void the_device_is_the_host(void **state)
{
  (void)state;
  assert_int_equal(device->info.is_cpu, 1);
  assert_int_equal(device->info.fp64, 1);
  assert_string_equal(device->info.pci, "");
  assert_memory_equal(device->info.uuid, "CPU-", 4);
  assert_true(device->info.compute_units <= sysconf(_SC_NPROCESSORS_CONF));
}

static void arrays_start_at_different_places_of_a_page(void **state)
{
  (void)state;
  enum { ARRAYS = 14 };
  struct gpu_mem mem[ARRAYS];
  for (int a = 0; a < ARRAYS; a++) {
    assert_int_equal(gpu_alloc(device, 4 * MIB, &mem[a]), STATUS_OK);
    assert_int_equal((uintptr_t)mem[a].handle % 256, 0);
    for (int b = 0; b < a; b++)
      assert_int_not_equal((uintptr_t)mem[a].handle % 4096, (uintptr_t)mem[b].handle % 4096);
  }
  for (int a = 0; a < ARRAYS; a++) gpu_free(device, &mem[a]);
}

static int resident_pages(const struct gpu_mem *mem)
{
  enum { PAGE = 4096 };
  unsigned char pages[4 * MIB / PAGE];
  int resident = 0;
  uintptr_t first = ((uintptr_t)mem->handle + PAGE - 1) / PAGE * PAGE;
  size_t n = (mem->bytes - PAGE) / PAGE;
  assert_int_equal(mincore((void *)first, n * PAGE, pages), 0);
  for (size_t i = 0; i < n; i++) resident += pages[i] & 1;
  return resident;
}

static void pages_stay_untouched_until_they_are_used(void **state)
{
  (void)state;
  struct gpu_mem mem;
  assert_int_equal(gpu_alloc(device, 4 * MIB, &mem), STATUS_OK);
  assert_int_equal(resident_pages(&mem), 0);
  memset(mem.handle, 1, mem.bytes);
  assert_true(resident_pages(&mem) > 0);
  gpu_free(device, &mem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_device_is_the_host, open_device, close_device),
      cmocka_unit_test_setup_teardown(arrays_start_at_different_places_of_a_page, open_device, close_device),
      cmocka_unit_test_setup_teardown(pages_stay_untouched_until_they_are_used, open_device, close_device),
  };
  return contract_run(&gpu_backend_cpu, tests, sizeof tests / sizeof *tests);
}
