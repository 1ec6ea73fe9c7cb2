/* SPDX-License-Identifier: MIT */
#include "tests/unit/contract.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/log.h"
#include "gpu/host.h"

#define MIB ((size_t)1 << 20)

static struct gpu_device *device;

static int open_device(void **state)
{
  log_hold(1);
  return gpu_open(&gpu_backend_cpu, 0, &device);
}

static int close_device(void **state)
{
  gpu_close(device);
  return 0;
}

TEST_WITH(the_device_is_the_host, open_device, close_device)
{
  assert_int_equal(device->info.is_cpu, 1);
  assert_int_equal(device->info.fp64, 1);
  assert_string_equal(device->info.pci, "");
  assert_memory_equal(device->info.uuid, "CPU-", 4);
  assert_true(device->info.compute_units <= sysconf(_SC_NPROCESSORS_CONF));
}

/* hwloc reads the topology from the environment. On one CPU, a process counts that core only. */
TEST(bound_cores_and_their_last_caches_are_counted)
{
  static const struct {
    const char *topology;
    int bound, cores;
    uint64_t cache;
  } cases[] = {{"pack:2 l3:2(size=1000) l2:3(size=100) core:1 pu:2", 0, 12, 4000},
               {"pack:2 l3:2(size=1000) l2:3(size=100) core:1 pu:512", 1, 1, 1000},
               {"pack:2 l2:3(size=100) l1:1(size=10) core:1 pu:1", 0, 6, 600},
               {"pack:2 core:3 pu:2", 0, 6, 0}};
  cpu_set_t all, one;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  CPU_SET((size_t)sched_getcpu(), &one);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    setenv("HWLOC_SYNTHETIC", cases[c].topology, 1);
    setenv("HWLOC_THISSYSTEM", cases[c].bound ? "1" : "0", 1);
    sched_setaffinity(0, sizeof one, cases[c].bound ? &one : &all);
    open_device(state);
    assert_int_equal(device->info.compute_units, cases[c].cores);
    assert_int_equal(device->info.cache_bytes, cases[c].cache);
    close_device(state);
  }
  sched_setaffinity(0, sizeof all, &all);
  unsetenv("HWLOC_SYNTHETIC");
  unsetenv("HWLOC_THISSYSTEM");
}

TEST_WITH(arrays_start_at_different_places_of_a_page, open_device, close_device)
{
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

TEST_WITH(pages_stay_untouched_until_they_are_used, open_device, close_device)
{
  struct gpu_mem mem;
  assert_int_equal(gpu_alloc(device, 4 * MIB, &mem), STATUS_OK);
  assert_int_equal(resident_pages(&mem), 0);
  memset(mem.handle, 1, mem.bytes);
  assert_true(resident_pages(&mem) > 0);
  gpu_free(device, &mem);
}

TEST(memory_in_use_is_not_available)
{
  struct host_memory memory;
  struct rlimit space, few;
  getrlimit(RLIMIT_AS, &space);
  few = space;
  few.rlim_cur = (rlim_t)1 << 46;
  setrlimit(RLIMIT_AS, &few);
  host_memory_read(&memory);
  setrlimit(RLIMIT_AS, &space);
  assert_true(memory.limit[HOST_MACHINE].available < memory.limit[HOST_MACHINE].total &&
              memory.limit[HOST_PROCESS].available < few.rlim_cur);
}

int main(void)
{
  return contract_run(&gpu_backend_cpu, unit_list()->test, unit_list()->n);
}
