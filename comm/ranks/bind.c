/* SPDX-License-Identifier: MIT */
#include "comm/ranks/bind.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/openmp.h"

static int bind_cores(hwloc_topology_t topology, hwloc_const_cpuset_t cpus)
{
  int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, cpus, HWLOC_OBJ_CORE);
  int units = hwloc_bitmap_weight(cpus);
  return cores > 0 ? cores : (units > 0 ? units : 1);
}

/* Binds each thread to a core, so that it stays near the memory that it touched first. */
static void bind_threads(hwloc_topology_t topology, hwloc_const_cpuset_t cpus)
{
#pragma omp parallel
  {
    int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, cpus, HWLOC_OBJ_CORE),
        n = omp_get_thread_num();
    hwloc_obj_t core =
        cores > 0 ? hwloc_get_obj_inside_cpuset_by_type(topology, cpus, HWLOC_OBJ_CORE, n % cores) : NULL;
    if (core) hwloc_set_cpubind(topology, core->cpuset, HWLOC_CPUBIND_THREAD);
  }
}

void bind_process(hwloc_topology_t topology, hwloc_const_cpuset_t cpus, int pin)
{
  if (hwloc_set_cpubind(topology, cpus, HWLOC_CPUBIND_PROCESS) != 0) {
    log_warn("the system refuses to bind processes to cores; they run where it puts them");
    return;
  }
  if (!getenv("OMP_NUM_THREADS")) omp_set_num_threads(bind_cores(topology, cpus));
  if (pin && !getenv("OMP_PROC_BIND")) bind_threads(topology, cpus);
}
