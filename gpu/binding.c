/* SPDX-License-Identifier: MIT */
#include "gpu/binding.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static status_t binding_out_of_memory(void)
{
  return log_fail(STATUS_ENVIRONMENT, "out of host memory for binding ranks to devices and cores");
}

status_t binding_topology_load(const char *xml, hwloc_topology_t *topology)
{
  hwloc_topology_t loaded;
  if (hwloc_topology_init(&loaded)) return log_fail(STATUS_ENVIRONMENT, "hwloc does not start");
  /* List PCI devices, but not the devices of libraries: searching for those would start OpenCL or
   * CUDA. */
  hwloc_topology_set_type_filter(loaded, HWLOC_OBJ_BRIDGE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  hwloc_topology_set_type_filter(loaded, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if ((xml && hwloc_topology_set_xml(loaded, xml)) || hwloc_topology_load(loaded)) {
    hwloc_topology_destroy(loaded);
    return log_fail(STATUS_ENVIRONMENT, "hwloc cannot read the topology of %s", xml ? xml : "this host");
  }
  *topology = loaded;
  return STATUS_OK;
}

/** Returns the NUMA node of a topology object, or NULL if it could be one of several. Nodes with
 * cores are preferred to nodes without cores (a GPU's memory, or nodes whose cores are not
 * allowed). On a host with several nodes, a device directly below the root has no known node, even
 * if only one node is allowed. */
static hwloc_obj_t node_of_place(hwloc_topology_t topology, hwloc_obj_t place)
{
  hwloc_obj_t found = NULL, node = NULL;
  if (place == hwloc_get_root_obj(topology) && hwloc_bitmap_weight(place->complete_nodeset) != 1) return NULL;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node))) {
    if (!hwloc_bitmap_isset(place->nodeset, node->os_index)) continue;
    if (!found || hwloc_bitmap_iszero(found->cpuset))
      found = node;
    else if (!hwloc_bitmap_iszero(node->cpuset) && !hwloc_bitmap_isequal(found->cpuset, node->cpuset))
      return NULL;
  }
  return found;
}

static hwloc_obj_t device_node(hwloc_topology_t topology, const struct gpu_device_info *device)
{
  hwloc_obj_t pci = device->pci[0] ? hwloc_get_pcidev_by_busidstring(topology, device->pci) : NULL;
  if (pci) return node_of_place(topology, hwloc_get_non_io_ancestor_obj(topology, pci));
  return device->numa >= 0 ? hwloc_get_numanode_obj_by_os_index(topology, (unsigned)device->numa) : NULL;
}

int binding_device_numa(hwloc_topology_t topology, const struct gpu_device_info *device)
{
  hwloc_obj_t node = device_node(topology, device);
  return node ? (int)node->os_index : -1;
}

/** Returns the cores to which the launcher bound a rank, or all allowed cores if it bound none. */
static hwloc_const_cpuset_t bound_of(hwloc_topology_t topology, const struct binding_rank *rank)
{
  if (rank->bound && !hwloc_bitmap_iszero(rank->bound)) return rank->bound;
  return hwloc_topology_get_allowed_cpuset(topology);
}

int binding_same_device(const struct gpu_device_info *a, const struct gpu_device_info *b)
{
  if (a->uuid[0] && b->uuid[0]) return !strcmp(a->uuid, b->uuid);
  return a->pci[0] && !strcmp(a->pci, b->pci);
}

/** Classes of distance between a device and a rank's cores. */
enum { NEAR, SAME_PACKAGE, FAR, DISTANCES };

struct view {
  int index; /**< index in the rank's list, −1 if the rank does not see the device */
  int distance;
};

struct host_device {
  const struct gpu_device_info *info;
  int index;   /**< index in the list of the first rank that sees the device */
  int owner;   /**< rank that uses the device in this round, −1 if none */
  int visited; /**< 1: the search for the current rank's device has visited this one */
};

/** The host's ranks and its distinct devices. */
struct host {
  int n_ranks, n_devices;
  struct host_device *devices;
  struct view *views; /**< [rank][device] */
  int *taken;         /**< per rank: index of its device, −1 before it has one */
};

/* Returns 1 if \a info describes the known device. Devices without UUID and PCI address are taken
 * for equal if names and list positions are: a false warning of a shared device is better than
 * none. */
static int is_device(const struct host_device *known, const struct gpu_device_info *info, int index)
{
  int anonymous = !known->info->uuid[0] && !info->uuid[0] && !known->info->pci[0] && !info->pci[0];
  if (anonymous) return known->index == index && !strcmp(known->info->name, info->name);
  return binding_same_device(known->info, info);
}

/** Returns the index of a rank's device among the host's devices; adds the device if it is new. */
static int host_device(struct host *host, const struct gpu_device_info *info, int index)
{
  for (int d = 0; d < host->n_devices; d++)
    if (is_device(&host->devices[d], info, index)) return d;
  host->devices[host->n_devices] = (struct host_device){.info = info, .index = index};
  return host->n_devices++;
}

static int distance(hwloc_topology_t topology, const struct gpu_device_info *device,
                    hwloc_const_cpuset_t bound)
{
  hwloc_obj_t node = device_node(topology, device);
  if (!node || hwloc_bitmap_intersects(node->cpuset, bound)) return NEAR;
  hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, node);
  return package && hwloc_bitmap_intersects(package->cpuset, bound) ? SAME_PACKAGE : FAR;
}

static void binding_host_free(struct host *host)
{
  free(host->devices);
  free(host->views);
  free(host->taken);
}

static void read_views(hwloc_topology_t topology, const struct binding_rank *rank, struct host *host,
                       struct view *views)
{
  for (int d = 0; d < host->n_devices; d++) views[d].index = -1;
  for (int i = 0; i < rank->n_devices; i++) {
    struct view *view = &views[host_device(host, &rank->devices[i], i)];
    if (view->index >= 0) continue;
    view->index = i;
    view->distance = distance(topology, &rank->devices[i], bound_of(topology, rank));
  }
}

static status_t host_read(hwloc_topology_t topology, const struct binding_rank *ranks, int n,
                          struct host *host)
{
  size_t most = 0;
  for (int r = 0; r < n; r++) most += (size_t)ranks[r].n_devices;
  *host = (struct host){.n_ranks = n};
  host->devices = calloc(most + 1, sizeof *host->devices);
  host->taken = calloc((size_t)n + 1, sizeof *host->taken);
  if (!host->devices || !host->taken) goto fail;
  for (int r = 0; r < n; r++)
    for (int i = 0; i < ranks[r].n_devices; i++) host_device(host, &ranks[r].devices[i], i);
  host->views = calloc((size_t)n * (size_t)host->n_devices + 1, sizeof *host->views);
  if (!host->views) goto fail;
  for (int r = 0; r < n; r++) {
    host->taken[r] = -1;
    read_views(topology, &ranks[r], host, host->views + (size_t)r * (size_t)host->n_devices);
  }
  return STATUS_OK;
fail:
  binding_host_free(host);
  return binding_out_of_memory();
}

static int binding_take(struct host *host, int rank, int device)
{
  host->devices[device].owner = rank;
  host->taken[rank] = device;
  return 1;
}

/** Finds a device at most at distance \a reach for a rank: a free device, nearest first, or one
 * whose owner can move to another device. This is the augmenting path of bipartite matching (Kuhn,
 * 1955), so as many ranks as possible get a device of their own. */
static int binding_place(struct host *host, int rank, int reach)
{
  const struct view *views = host->views + (size_t)rank * (size_t)host->n_devices;
  for (int near = NEAR; near <= reach; near++)
    for (int d = 0; d < host->n_devices; d++)
      if (views[d].index >= 0 && views[d].distance == near && host->devices[d].owner < 0)
        return binding_take(host, rank, d);
  for (int d = 0; d < host->n_devices; d++) {
    struct host_device *device = &host->devices[d];
    if (views[d].index < 0 || views[d].distance > reach || device->visited) continue;
    device->visited = 1;
    if (binding_place(host, device->owner, reach)) return binding_take(host, rank, d);
  }
  return 0;
}

/** Gives each device to at most one more rank, near devices first. Returns the number of ranks that
 * received a device. */
static int place_round(struct host *host)
{
  int placed = 0;
  for (int d = 0; d < host->n_devices; d++) host->devices[d].owner = -1;
  for (int reach = NEAR; reach < DISTANCES; reach++)
    for (int r = 0; r < host->n_ranks; r++) {
      if (host->taken[r] >= 0) continue;
      for (int d = 0; d < host->n_devices; d++) host->devices[d].visited = 0;
      placed += binding_place(host, r, reach);
    }
  return placed;
}

status_t binding_assign_devices(hwloc_topology_t topology, struct binding_rank *ranks, int n)
{
  struct host host;
  if (n < 1) return STATUS_OK;
  RETURN_IF_FAILED(host_read(topology, ranks, n, &host));
  int unused = host.n_devices;
  while (place_round(&host)) continue;
  for (int d = 0; d < host.n_devices; d++) {
    int taken = 0;
    for (int r = 0; r < n && !taken; r++) taken = host.taken[r] == d;
    unused -= taken;
  }
  for (int r = 0; r < n; r++) {
    int device = host.taken[r];
    ranks[r].device = device < 0 ? -1 : host.views[(size_t)r * (size_t)host.n_devices + (size_t)device].index;
    ranks[r].host_devices = host.n_devices;
    ranks[r].host_unused = unused;
    ranks[r].shared = 0;
    if (device < 0 || host.devices[device].info->is_cpu) continue;
    for (int other = 0; other < n; other++) ranks[r].shared += other != r && host.taken[other] == device;
  }
  binding_host_free(&host);
  return STATUS_OK;
}

/** Returns the next core with a hardware thread in the pool, or NULL at the end. If the topology
 * has no cores, hardware threads take their place. */
static hwloc_obj_t next_core(hwloc_topology_t topology, hwloc_const_cpuset_t pool, hwloc_obj_t core)
{
  hwloc_obj_type_t type =
      hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  while ((core = hwloc_get_next_obj_by_type(topology, type, core)))
    if (hwloc_bitmap_intersects(core->cpuset, pool)) return core;
  return NULL;
}

static int count_cores(hwloc_topology_t topology, hwloc_const_cpuset_t pool)
{
  int n = 0;
  for (hwloc_obj_t core = next_core(topology, pool, NULL); core; core = next_core(topology, pool, core)) n++;
  return n;
}

/** Sets \a cpus to one of \a parts equal parts of the pool's cores. No part is empty: if there are
 * fewer cores than parts, parts share cores. */
static void deal(hwloc_topology_t topology, hwloc_const_cpuset_t pool, int part, int parts,
                 hwloc_cpuset_t cpus)
{
  int n = count_cores(topology, pool), at = 0;
  int first = (int)((int64_t)part * n / parts), last = (int)((int64_t)(part + 1) * n / parts);
  if (last == first) last++;
  for (hwloc_obj_t core = next_core(topology, pool, NULL); core; core = next_core(topology, pool, core), at++)
    if (at >= first && at < last) hwloc_bitmap_or(cpus, cpus, core->cpuset);
  hwloc_bitmap_and(cpus, cpus, pool);
}

/** A rank's share of the host's cores. Ranks that divide the same pool have the same node. */
struct share {
  hwloc_obj_t node;    /**< NUMA node of the rank's device, NULL if unknown or unused */
  int part, parts;     /**< index of the rank among the ranks with this node, and their number */
  hwloc_cpuset_t pool; /**< owned */
};

static void count_parts(struct share *shares, int n)
{
  for (int r = 0; r < n; r++) {
    shares[r].part = shares[r].parts = 0;
    for (int other = 0; other < n; other++) {
      if (shares[other].node != shares[r].node) continue;
      shares[r].parts++;
      shares[r].part += other < r;
    }
  }
}

/** Sets the pools: ranks near a node get that node's cores, and all other ranks get the remaining
 * cores. */
static void set_pools(hwloc_const_cpuset_t all, struct share *shares, int n)
{
  for (int r = 0; r < n; r++) {
    hwloc_bitmap_copy(shares[r].pool, all);
    for (int other = 0; other < n && !shares[r].node; other++)
      if (shares[other].node) hwloc_bitmap_andnot(shares[r].pool, shares[r].pool, shares[other].node->cpuset);
    if (shares[r].node) hwloc_bitmap_and(shares[r].pool, all, shares[r].node->cpuset);
  }
}

static int pools_suffice(hwloc_topology_t topology, const struct share *shares, int n)
{
  for (int r = 0; r < n; r++)
    if (count_cores(topology, shares[r].pool) < shares[r].parts) return 0;
  return 1;
}

static void divide(hwloc_topology_t topology, hwloc_const_cpuset_t all, const struct binding_rank *ranks,
                   struct share *shares, int n)
{
  for (int r = 0; r < n; r++) {
    const struct gpu_device_info *device = ranks[r].device >= 0 ? &ranks[r].devices[ranks[r].device] : NULL;
    shares[r].node = device && !device->is_cpu ? device_node(topology, device) : NULL;
  }
  count_parts(shares, n);
  set_pools(all, shares, n);
  if (pools_suffice(topology, shares, n)) return;
  for (int r = 0; r < n; r++) shares[r].node = NULL;
  count_parts(shares, n);
  set_pools(all, shares, n);
}

/** Divides the cores \a all among the ranks, whose `cpus` must be empty sets. */
static status_t share_cores(hwloc_topology_t topology, hwloc_const_cpuset_t all, struct binding_rank *ranks,
                            int n)
{
  status_t status = STATUS_OK;
  struct share *shares = calloc((size_t)n, sizeof *shares);
  if (!shares) return binding_out_of_memory();
  for (int r = 0; r < n; r++)
    if (!(shares[r].pool = hwloc_bitmap_alloc())) status = binding_out_of_memory();
  if (status == STATUS_OK) {
    divide(topology, all, ranks, shares, n);
    for (int r = 0; r < n; r++)
      deal(topology, shares[r].pool, shares[r].part, shares[r].parts, ranks[r].cpus);
  }
  for (int r = 0; r < n; r++) hwloc_bitmap_free(shares[r].pool);
  free(shares);
  return status;
}

static void whole_cores(hwloc_topology_t topology, hwloc_const_cpuset_t cpus, hwloc_cpuset_t whole)
{
  hwloc_bitmap_zero(whole);
  for (hwloc_obj_t core = next_core(topology, cpus, NULL); core; core = next_core(topology, cpus, core))
    hwloc_bitmap_or(whole, whole, core->cpuset);
}

/** Marks ranks that share a core with another rank, even by different hardware threads. */
static void mark_overlaps(hwloc_topology_t topology, struct binding_rank *ranks, int n,
                          hwloc_cpuset_t scratch)
{
  for (int r = 0; r < n; r++) {
    ranks[r].overlap = 0;
    whole_cores(topology, ranks[r].cpus, scratch);
    for (int other = 0; other < n; other++)
      if (other != r && hwloc_bitmap_intersects(scratch, ranks[other].cpus)) ranks[r].overlap = 1;
  }
}

/* Open MPI binds up to two ranks of a host to one core each, which suits programs without threads.
 * Such a binding is a default and not the user's choice: the ranks share all allowed cores. Ranks
 * with overlapping bindings share the union of them. Any other binding is kept. */
static void choose_pool(hwloc_topology_t topology, const struct binding_rank *ranks, int n,
                        hwloc_cpuset_t pool)
{
  int single = 1, overlap = 0;
  for (int r = 0; r < n; r++) {
    if (count_cores(topology, ranks[r].cpus) > 1) single = 0;
    overlap |= ranks[r].overlap;
  }
  hwloc_bitmap_zero(pool);
  if (single)
    hwloc_bitmap_copy(pool, hwloc_topology_get_allowed_cpuset(topology));
  else if (overlap)
    for (int r = 0; r < n; r++) hwloc_bitmap_or(pool, pool, ranks[r].cpus);
}

status_t binding_assign_cpus(hwloc_topology_t topology, enum binding_policy policy,
                             struct binding_rank *ranks, int n)
{
  status_t status = STATUS_OK;
  if (n < 1) return STATUS_OK;
  hwloc_cpuset_t pool = hwloc_bitmap_alloc(), scratch = hwloc_bitmap_alloc();
  if (!pool || !scratch) status = binding_out_of_memory();
  for (int r = 0; r < n; r++) {
    ranks[r].cpus = hwloc_bitmap_dup(bound_of(topology, &ranks[r]));
    if (!ranks[r].cpus && status == STATUS_OK) status = binding_out_of_memory();
  }
  if (status != STATUS_OK) goto done;
  mark_overlaps(topology, ranks, n, scratch);
  if (policy == BINDING_SHARE) hwloc_bitmap_copy(pool, hwloc_topology_get_allowed_cpuset(topology));
  if (policy == BINDING_AUTO) choose_pool(topology, ranks, n, pool);
  if (hwloc_bitmap_iszero(pool)) goto done;
  for (int r = 0; r < n; r++) hwloc_bitmap_zero(ranks[r].cpus);
  TRY(share_cores(topology, pool, ranks, n), done);
  mark_overlaps(topology, ranks, n, scratch);
done:
  for (int r = 0; r < n && status != STATUS_OK; r++) {
    hwloc_bitmap_free(ranks[r].cpus);
    ranks[r].cpus = NULL;
  }
  hwloc_bitmap_free(scratch);
  hwloc_bitmap_free(pool);
  return status;
}
