/* SPDX-License-Identifier: MIT */
/* Prints this host's topology as XML, for tests/tap: ranks that each look through all of sysfs, and
 * start OpenCL for it, take twice as long to begin. */
#include <hwloc.h>
#include <stdio.h>

int main(void)
{
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology)) return 3;
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  int failed = hwloc_topology_load(topology) || hwloc_topology_export_xml(topology, "-", 0);
  hwloc_topology_destroy(topology);
  return failed || fflush(stdout) ? 3 : 0;
}
