/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Which rank of a host takes which device and which cores: by position on the host and by
 * locality, never by the global rank. Pure functions of a topology, so that recorded machines can
 * test them. */
#ifndef GPU_BINDING_H
#define GPU_BINDING_H

#include <hwloc.h>

#include "gpu/gpu.h"

enum binding_policy {
  /** keep what the launcher bound; widen a single-core default binding to a fair share */
  BINDING_AUTO,
  BINDING_KEEP, /**< keep what the launcher bound */
  BINDING_SHARE /**< an equal share of the host's allowed cores, nearest the device */
};

/** One rank of this host, in the order of the host's ranks. */
struct binding_rank {
  const struct gpu_device_info *devices; /**< what this rank sees */
  int n_devices;
  hwloc_const_cpuset_t bound; /**< what the launcher bound it to */
  /* chosen: */
  int device;          /**< index into `devices`, −1 if none */
  int host_devices;    /**< that the host's ranks see together, each counted once */
  int host_unused;     /**< those that no rank takes */
  int shared;          /**< how many other ranks of the host have the same device */
  hwloc_cpuset_t cpus; /**< cores to run on; the caller frees it */
  int overlap;         /**< a core of it is another rank's too */
};

/** \brief Loads the topology of a recorded machine (\a xml), or of this one (NULL), with its PCI
 * devices and without starting any device library. The caller destroys it with
 * hwloc_topology_destroy. */
status_t binding_topology_load(const char *xml, hwloc_topology_t *topology);

/** \brief The device's NUMA node (OS index) by its PCI place in the topology, else as the backend
 * knows it; −1 if unknown. */
int binding_device_numa(hwloc_topology_t topology, const struct gpu_device_info *device);

/** \brief Gives every rank of one host a device. Two entries are one device when UUID, or else PCI
 * place, agree. Each takes the unused device nearest its cores; when all are used, the least used.
 * As many ranks as can be get a device of their own, whatever subsets of the devices they see. A
 * CPU never counts as shared. */
status_t binding_assign_devices(hwloc_topology_t topology, struct binding_rank *ranks, int n);

/** \brief Gives every rank of one host its cores by \a policy; on SHARE the cores of each NUMA node
 * are dealt out to the ranks whose device is near it, or evenly when there are no such devices. */
status_t binding_assign_cpus(hwloc_topology_t topology, enum binding_policy policy,
                             struct binding_rank *ranks, int n);

/** \brief Whether two infos are one physical device (UUID, else PCI place). */
int binding_same_device(const struct gpu_device_info *a, const struct gpu_device_info *b);

#endif
