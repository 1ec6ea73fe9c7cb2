/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Assigns devices and cores to the ranks of a host by the rank's position on the host and by
 * locality, never by the global rank. Pure functions of a topology, so that tests can use recorded
 * machines. */
#ifndef GPU_BINDING_H
#define GPU_BINDING_H

#include <hwloc.h>

#include "gpu/gpu.h"

enum binding_policy {
  /** keep the launcher's binding, but widen a single-core default binding to a fair share */
  BINDING_AUTO,
  BINDING_KEEP, /**< keep the cores to which the launcher bound the rank */
  BINDING_SHARE /**< use an equal share of the host's allowed cores, nearest to the device */
};

/** A rank of this host. Arrays of it are in the order of the host's ranks. */
struct binding_rank {
  const struct gpu_device_info *devices; /**< the devices that this rank sees */
  int n_devices;
  hwloc_const_cpuset_t bound; /**< cores to which the launcher bound the rank */
  /* the functions below set these: */
  int device;          /**< index into `devices`, −1 if none */
  int host_devices;    /**< number of distinct devices that the host's ranks see */
  int host_unused;     /**< number of devices that no rank uses */
  int shared;          /**< number of other ranks of the host that use the same device */
  hwloc_cpuset_t cpus; /**< cores to run on; the caller frees it */
  int overlap;         /**< 1: another rank uses a core of this rank, too */
};

/** \brief Loads the topology of the machine recorded in \a xml, or of this machine if it is NULL,
 * with its PCI devices but without starting a device library. Free with hwloc_topology_destroy. */
status_t binding_topology_load(const char *xml, hwloc_topology_t *topology);

/** \brief Returns the NUMA node (OS index) of a device, from its PCI address in the topology,
 * otherwise from the backend; −1 if unknown. */
int binding_device_numa(hwloc_topology_t topology, const struct gpu_device_info *device);

/** \brief Gives every rank of one host a device. Two entries are one device if their UUIDs agree,
 * or, without UUIDs, their PCI addresses. Each rank takes the unused device nearest to its cores,
 * or if all are used, the device with the fewest ranks. As many ranks as possible have a device of
 * their own, whatever subsets of the devices they see. A CPU never counts as shared. */
status_t binding_assign_devices(hwloc_topology_t topology, struct binding_rank *ranks, int n);

/** \brief Sets the cores of every rank of one host by \a policy. BINDING_SHARE divides the cores of
 * each NUMA node among the ranks whose device is near it, and the remaining cores among the other
 * ranks. If this would leave a rank without a core of its own, all cores are divided evenly. */
status_t binding_assign_cpus(hwloc_topology_t topology, enum binding_policy policy,
                             struct binding_rank *ranks, int n);

/** \brief Returns 1 if two infos describe one device: by UUIDs, or without them by PCI
 * addresses. */
int binding_same_device(const struct gpu_device_info *a, const struct gpu_device_info *b);

#endif
