/* SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "tests/unit/binding_host.h"

TEST(a_file_that_is_no_topology_is_refused)
{
  hwloc_topology_t topology;
  log_hold(1);
  assert_int_equal(binding_topology_load("no/such/file.xml", &topology), STATUS_ENVIRONMENT);
  assert_non_null(strstr(log_held(), "no/such/file.xml"));
  log_drop();
}

ON(eight_gpus, a_pci_address_gives_the_numa_node)
{
  struct gpu_device_info unknown = {.pci = "0000:77:00.0", .numa = -1};
  for (int d = 0; d < GPUS; d++)
    assert_int_equal(binding_device_numa(fixture.topology, &fixture.gpus[d]), d / 4);
  assert_int_equal(binding_device_numa(fixture.topology, &unknown), -1);
  unknown.numa = 1;
  assert_int_equal(binding_device_numa(fixture.topology, &unknown), 1);
  unknown.numa = 9;
  assert_int_equal(binding_device_numa(fixture.topology, &unknown), -1);
}

ON(two_nodes, an_address_at_the_root_gives_no_node)
{
  struct gpu_device_info card = {.pci = "0000:02:00.0", .numa = -1};
  assert_non_null(hwloc_get_pcidev_by_busidstring(fixture.topology, card.pci));
  assert_int_equal(binding_device_numa(fixture.topology, &card), -1);
}

ON(eight_gpus, unbound_ranks_take_devices_in_order)
{
  show(0, 7, 0, GPUS);
  assign_devices(8);
  for (int r = 0; r < 8; r++) expect_device(r, r, 0);
}

ON(eight_gpus, ranks_take_devices_near_their_cores)
{
  show(0, 7, 0, GPUS);
  for (int r = 0; r < 8; r++) bind_rank(r, r % 2 ? "0-15,32-47" : "16-31,48-63");
  assign_devices(8);
  for (int r = 0; r < 8; r++) expect_device(r, r % 2 ? r / 2 : 4 + r / 2, 0);
}

ON(eight_gpus, ranks_without_a_near_device_take_a_far_one)
{
  show(0, 5, 0, GPUS);
  for (int r = 0; r < 6; r++) bind_rank(r, "16-31");
  assign_devices(6);
  for (int r = 0; r < 4; r++) expect_device(r, 4 + r, 0);
  expect_device(4, 0, 0);
  expect_device(5, 1, 0);
}

ON(four_nodes, a_device_of_the_same_socket_goes_before_one_of_another)
{
  struct gpu_device_info devices[2] = {{.uuid = "GPU-far", .numa = 2}, {.uuid = "GPU-socket", .numa = 1}};
  show_list(0, devices, 2);
  bind_rank(0, "0-1");
  assign_devices(1);
  expect_device(0, 1, 0);
}

ON(eight_gpus, a_rank_moves_to_a_device_as_near)
{
  struct gpu_device_info far_first[3] = {fixture.gpus[4], fixture.gpus[0], fixture.gpus[1]};
  show_list(0, far_first, 3);
  bind_rank(0, "0-15");
  show(1, 1, 0, 1);
  bind_rank(1, "16-31");
  assign_devices(2);
  expect_device(0, 2, 0);
  expect_device(1, 0, 0);
}

ON(eight_gpus, a_device_is_shared_by_those_near_it)
{
  show(0, 2, 3, 2);
  bind_rank(0, "0-15");
  bind_rank(1, "0-15");
  bind_rank(2, "16-31");
  assign_devices(3);
  expect_device(0, 0, 1);
  expect_device(1, 0, 1);
  expect_device(2, 1, 0);
}

ON(eight_gpus, a_device_listed_twice_counts_at_its_first_place)
{
  struct gpu_device_info twice[2] = {fixture.gpus[0], fixture.gpus[0]};
  show_list(0, twice, 2);
  show_list(1, twice, 2);
  assign_devices(2);
  expect_device(0, 0, 1);
  expect_device(1, 0, 1);
}

ON(eight_gpus, one_visible_device_a_task_is_not_shared)
{
  for (int r = 0; r < 8; r++) show(r, r, r, 1);
  assign_devices(8);
  for (int r = 0; r < 8; r++) expect_device(r, 0, 0);
}

ON(eight_gpus, the_same_device_seen_by_two_ranks_is_shared)
{
  show(0, 1, 3, 1);
  show(2, 2, 5, 1);
  assign_devices(3);
  expect_device(0, 0, 1);
  expect_device(1, 0, 1);
  expect_device(2, 0, 0);
}

ON(eight_gpus, overlapping_subsets_leave_nobody_without_its_own_device)
{
  struct gpu_device_info a_c[2] = {fixture.gpus[0], fixture.gpus[2]};
  show(0, 0, 0, 2);
  show_list(1, a_c, 2);
  show(2, 2, 0, 1);
  assign_devices(3);
  expect_device(0, 1, 0);
  expect_device(1, 1, 0);
  expect_device(2, 0, 0);
}

ON(eight_gpus, each_list_has_its_own_order)
{
  struct gpu_device_info reversed[2] = {fixture.gpus[1], fixture.gpus[0]};
  show(0, 0, 0, 2);
  show_list(1, reversed, 2);
  assign_devices(2);
  expect_device(0, 0, 0);
  expect_device(1, 0, 0);
}

ON(eight_gpus, more_ranks_than_devices_share_them_evenly)
{
  show(0, 5, 0, 2);
  assign_devices(6);
  for (int r = 0; r < 6; r++) expect_device(r, r % 2, 2);
}

ON(eight_gpus, parts_of_one_gpu_are_devices_of_their_own)
{
  struct gpu_device_info parts[2] = {fixture.gpus[0], fixture.gpus[0]};
  strcpy(parts[0].uuid, "MIG-0");
  strcpy(parts[1].uuid, "MIG-1");
  assert_false(binding_same_device(&parts[0], &parts[1]));
  show_list(0, parts, 2);
  show_list(1, parts, 2);
  assign_devices(2);
  expect_device(0, 0, 0);
  expect_device(1, 1, 0);
}

ON(eight_gpus, without_a_uuid_the_pci_place_decides)
{
  struct gpu_device_info first = fixture.gpus[2], second = fixture.gpus[3], again = fixture.gpus[2];
  first.uuid[0] = second.uuid[0] = '\0';
  assert_true(binding_same_device(&first, &again));
  assert_false(binding_same_device(&second, &again));
  show_list(0, &first, 1);
  show_list(1, &again, 1);
  show_list(2, &second, 1);
  assign_devices(3);
  expect_device(0, 0, 1);
  expect_device(1, 0, 1);
  expect_device(2, 0, 0);
}

ON(two_nodes, devices_without_identity_are_distinguished_by_their_index)
{
  struct gpu_device_info nameless[2] = {{.name = "GPU", .numa = -1}, {.name = "GPU", .numa = -1}};
  assert_false(binding_same_device(&nameless[0], &nameless[1]));
  for (int r = 0; r < 3; r++) show_list(r, nameless, 2);
  assign_devices(3);
  expect_device(0, 0, 1);
  expect_device(1, 1, 0);
  expect_device(2, 0, 1);
}

ON(two_nodes, sharing_the_cpu_is_normal)
{
  struct gpu_device_info cpu = {.uuid = "CPU-1", .numa = -1, .is_cpu = 1};
  for (int r = 0; r < 4; r++) show_list(r, &cpu, 1);
  assign_devices(4);
  for (int r = 0; r < 4; r++) expect_device(r, 0, 0);
}

ON(eight_gpus, a_rank_that_sees_no_device_gets_none)
{
  show(1, 1, 0, GPUS);
  assign_devices(2);
  expect_device(0, -1, 0);
  expect_device(1, 0, 0);
}

UNIT_MAIN(NULL, NULL)
