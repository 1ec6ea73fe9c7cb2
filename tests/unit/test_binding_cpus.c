/* SPDX-License-Identifier: MIT */
#include "tests/unit/binding_host.h"

static void expect_cpus(int rank, const char *list)
{
  char got[256];
  hwloc_bitmap_list_snprintf(got, sizeof got, fixture.ranks[rank].cpus);
  assert_string_equal(got, list);
}

/** Asserts that no two ranks share a processing unit, and that there is no warning about it. */
static void expect_disjoint(int n)
{
  for (int r = 0; r < n; r++) {
    assert_false(hwloc_bitmap_iszero(fixture.ranks[r].cpus));
    assert_int_equal(fixture.ranks[r].overlap, 0);
    for (int other = 0; other < r; other++)
      assert_false(hwloc_bitmap_intersects(fixture.ranks[r].cpus, fixture.ranks[other].cpus));
  }
}

ON(eight_gpus, a_default_of_one_core_widens_to_a_share_near_the_device)
{
  show(0, 7, 0, GPUS);
  for (int r = 0; r < 8; r++) {
    char core[32];
    snprintf(core, sizeof core, "%d,%d", r, r + 32);
    bind_rank(r, core);
  }
  assign_devices(8);
  assign_cpus(BINDING_AUTO, 8);
  expect_disjoint(8);
  expect_cpus(0, "0-3,32-35");
  expect_cpus(3, "12-15,44-47");
  expect_cpus(4, "16-19,48-51");
  expect_cpus(7, "28-31,60-63");
}

ON(eight_gpus, a_single_rank_of_one_core_gets_the_cores_near_its_device)
{
  bind_rank(0, "16");
  show(0, 0, 0, GPUS);
  assign_devices(1);
  expect_device(0, 4, 0);
  assign_cpus(BINDING_AUTO, 1);
  expect_cpus(0, "16-31,48-63");
}

ON(eight_gpus, keep_keeps_and_reports_overlaps)
{
  bind_rank(0, "5");
  bind_rank(1, "37"); /* the second thread of the same core */
  bind_rank(2, "6,38");
  assign_cpus(BINDING_KEEP, 3);
  expect_cpus(0, "5");
  expect_cpus(1, "37");
  expect_cpus(2, "6,38");
  assert_int_equal(fixture.ranks[0].overlap, 1);
  assert_int_equal(fixture.ranks[1].overlap, 1);
  assert_int_equal(fixture.ranks[2].overlap, 0);
}

ON(eight_gpus, a_binding_that_was_meant_stays)
{
  show(0, 1, 0, GPUS);
  bind_rank(0, "0-3");
  bind_rank(1, "4-5");
  assign_devices(2);
  assign_cpus(BINDING_AUTO, 2);
  expect_cpus(0, "0-3");
  expect_cpus(1, "4-5");
  expect_disjoint(2);
}

ON(eight_gpus, ranks_bound_to_the_same_cores_share_them)
{
  bind_rank(0, "0-7");
  bind_rank(1, "0-7");
  bind_rank(2, "4-11");
  assign_cpus(BINDING_AUTO, 3);
  expect_disjoint(3);
  expect_cpus(0, "0-3");
  expect_cpus(1, "4-7");
  expect_cpus(2, "8-11");
}

ON(eight_gpus, unbound_ranks_share_evenly_by_whole_cores)
{
  assign_cpus(BINDING_AUTO, 2);
  expect_disjoint(2);
  expect_cpus(0, "0-15,32-47");
  expect_cpus(1, "16-31,48-63");
}

ON(eight_gpus, one_unbound_rank_keeps_everything)
{
  assign_cpus(BINDING_AUTO, 1);
  expect_cpus(0, "0-63");
}

ON(two_nodes, a_share_is_as_even_as_it_goes)
{
  assign_cpus(BINDING_SHARE, 3);
  expect_disjoint(3);
  expect_cpus(0, "0-1");
  expect_cpus(1, "2-4");
  expect_cpus(2, "5-7");
}

ON(two_nodes, more_ranks_than_cores_overlap_and_report_it)
{
  int overlaps = 0;
  assign_cpus(BINDING_SHARE, 10);
  for (int r = 0; r < 10; r++) {
    assert_int_equal(hwloc_bitmap_weight(fixture.ranks[r].cpus), 1);
    overlaps += fixture.ranks[r].overlap;
  }
  assert_int_equal(overlaps, 4);
}

ON(two_nodes, the_cpu_as_a_device_has_no_place_of_its_own)
{
  struct gpu_device_info cpu = {.uuid = "CPU-1", .numa = 0, .is_cpu = 1};
  for (int r = 0; r < 2; r++) show_list(r, &cpu, 1);
  assign_devices(2);
  assign_cpus(BINDING_SHARE, 2);
  expect_cpus(0, "0-3");
  expect_cpus(1, "4-7");
}

ON(eight_gpus, a_rank_without_a_device_takes_what_the_others_leave)
{
  show(0, 1, 0, 2);
  assign_devices(3);
  assign_cpus(BINDING_SHARE, 3);
  expect_disjoint(3);
  expect_cpus(0, "0-7,32-39");
  expect_cpus(1, "8-15,40-47");
  expect_cpus(2, "16-31,48-63");
}

ON(slurm, ranks_of_a_slurm_job_share_its_cores_near_their_devices)
{
  show(0, 0, 6, 1); /* one visible device per task */
  show(1, 1, 2, 1);
  assert_int_equal(binding_device_numa(fixture.topology, &fixture.gpus[6]), 1);
  for (int r = 0; r < 2; r++) bind_rank(r, "0-3,16-19,32-35,48-51");
  assign_devices(2);
  assign_cpus(BINDING_AUTO, 2);
  expect_device(0, 0, 0);
  expect_device(1, 0, 0);
  expect_disjoint(2);
  expect_cpus(0, "16-19,48-51");
  expect_cpus(1, "0-3,32-35");
}

ON(slurm, a_share_stays_inside_what_slurm_allows)
{
  for (int r = 0; r < 4; r++) bind_rank(r, r < 2 ? "0,32" : "16,48");
  assign_cpus(BINDING_AUTO, 4);
  expect_disjoint(4);
  expect_cpus(0, "0-1,32-33");
  expect_cpus(3, "18-19,50-51");
}

/** Restricts the machine to some processing units, as a control group does. */
static void allow(const char *list)
{
  hwloc_cpuset_t set = hwloc_bitmap_alloc();
  hwloc_bitmap_list_sscanf(set, list);
  assert_int_equal(hwloc_topology_restrict(fixture.topology, set, HWLOC_RESTRICT_FLAG_ADAPT_IO), 0);
  hwloc_bitmap_free(set);
}

ON(eight_gpus, too_few_cores_near_the_device_are_made_up_for_far_away)
{
  allow("0,16-18,32,48-50");
  show(0, 1, 0, 2);
  assign_devices(2);
  assign_cpus(BINDING_SHARE, 2);
  expect_disjoint(2);
  expect_cpus(0, "0,16,32,48");
  expect_cpus(1, "17-18,49-50");
}

ON(eight_gpus, no_cores_near_the_devices_means_an_even_share)
{
  allow("0-3,32-35");
  show(0, 1, 4, 2);
  assert_int_equal(binding_device_numa(fixture.topology, &fixture.gpus[4]), 1);
  assign_devices(2);
  assign_cpus(BINDING_SHARE, 2);
  expect_disjoint(2);
  expect_cpus(0, "0-1,32-33");
  expect_cpus(1, "2-3,34-35");
}

UNIT_MAIN(NULL, NULL)
