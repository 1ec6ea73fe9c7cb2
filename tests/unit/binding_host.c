/* SPDX-License-Identifier: MIT */
#include "tests/unit/binding_host.h"

static const char *const gpu_pci[GPUS] = {"0000:1b:00.0", "0000:43:00.0", "0000:52:00.0", "0000:61:00.0",
                                          "0000:9d:00.0", "0000:c3:00.0", "0000:d1:00.0", "0000:df:00.0"};

struct fixture fixture;

static void reset(void)
{
  memset(&fixture, 0, sizeof fixture);
  for (int d = 0; d < GPUS; d++) {
    fixture.gpus[d].numa = -1;
    snprintf(fixture.gpus[d].uuid, sizeof fixture.gpus[d].uuid, "GPU-%d", d);
    snprintf(fixture.gpus[d].pci, sizeof fixture.gpus[d].pci, "%s", gpu_pci[d]);
  }
  for (int r = 0; r < RANKS_MAX; r++) fixture.ranks[r].device = -1;
}

static int load(const char *file)
{
  char path[1024];
  const char *source = getenv("top_srcdir");
  snprintf(path, sizeof path, "%s/tests/topo/%s", source ? source : ".", file);
  reset();
  return binding_topology_load(path, &fixture.topology);
}

int load_eight_gpus(void **state)
{
  return load("eight-gpus.xml");
}

int load_slurm(void **state)
{
  return load("eight-gpus-slurm.xml");
}

int load_two_nodes(void **state)
{
  return load("two-numa-nodes.xml");
}

int load_four_nodes(void **state)
{
  reset();
  return hwloc_topology_init(&fixture.topology) ||
         hwloc_topology_set_synthetic(fixture.topology, "pack:2 numa:2 core:2 pu:1") ||
         hwloc_topology_load(fixture.topology);
}

int unload(void **state)
{
  for (int r = 0; r < RANKS_MAX; r++) {
    hwloc_bitmap_free(fixture.bound[r]);
    hwloc_bitmap_free(fixture.ranks[r].cpus);
  }
  hwloc_topology_destroy(fixture.topology);
  return 0;
}

void show(int first, int last, int gpu, int n)
{
  for (int r = first; r <= last; r++) {
    fixture.ranks[r].devices = &fixture.gpus[gpu];
    fixture.ranks[r].n_devices = n;
  }
}

void show_list(int rank, const struct gpu_device_info *infos, int n)
{
  fixture.ranks[rank].devices = infos;
  fixture.ranks[rank].n_devices = n;
}

void bind_rank(int rank, const char *list)
{
  if (!fixture.bound[rank]) fixture.bound[rank] = hwloc_bitmap_alloc();
  assert_int_equal(hwloc_bitmap_list_sscanf(fixture.bound[rank], list), 0);
  fixture.ranks[rank].bound = fixture.bound[rank];
}

void assign_devices(int n)
{
  assert_int_equal(binding_assign_devices(fixture.topology, fixture.ranks, n), STATUS_OK);
}

void assign_cpus(enum binding_policy policy, int n)
{
  assert_int_equal(binding_assign_cpus(fixture.topology, policy, fixture.ranks, n), STATUS_OK);
}

void expect_device(int rank, int device, int shared)
{
  assert_int_equal(fixture.ranks[rank].device, device);
  assert_int_equal(fixture.ranks[rank].shared, shared);
}
