/* SPDX-License-Identifier: MIT */
#include "comm/ranks/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/meta.h"
#include "base/start.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/bind.h"
#include "comm/ranks/guard.h"
#include "comm/ranks/watch.h"
#include "gpu/select.h"

#define CPUSET_TEXT 1024
#define HOSTS_NAMED 8

/* Data that the ranks of one host exchange. */
struct host_table {
  struct binding_rank *ranks;
  struct gpu_device_info *devices; /* the devices of all ranks, one rank after the other */
  hwloc_cpuset_t *bound;
  int n;
};

status_t placement_open(MPI_Comm world, struct placement *placement)
{
  struct placement p = {.device = -1, .numa = -1};
  MPI_Comm host;
  RETURN_IF_FAILED(guard_mpi(world, MPI_Comm_dup(world, &p.comm), "MPI_Comm_dup"));
  MPI_Comm_set_errhandler(p.comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(p.comm, &p.rank);
  MPI_Comm_size(p.comm, &p.ranks);
  RETURN_IF_FAILED(guard_mpi(p.comm,
                             MPI_Comm_split_type(p.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                             "MPI_Comm_split_type"));
  MPI_Comm_rank(host, &p.host_rank);
  MPI_Comm_size(host, &p.host_ranks);
  p.host_first = p.rank; /* key 0 of the split keeps the order, so rank 0 of `host` is the lowest */
  MPI_Bcast(&p.host_first, 1, MPI_INT, 0, host);
  MPI_Comm_free(&host);
  meta_host(p.host, sizeof p.host);
  log_set_rank(p.ranks > 1 ? p.rank : -1, p.host);
  *placement = p;
  return STATUS_OK;
}

void placement_close(struct placement *placement)
{
  if (placement->comm != MPI_COMM_NULL) MPI_Comm_free(&placement->comm);
}

static int same_devices(const struct rank_claim *a, const struct rank_claim *b)
{
  return a->claim.backend == b->claim.backend && a->claim.only_cpus == b->claim.only_cpus;
}

static int same_claim(const struct rank_claim *a, const struct rank_claim *b)
{
  return same_devices(a, b) && strcmp(a->claim.reason, b->claim.reason) == 0;
}

/* Describes the ranks with the claim of rank \a first: "n1, n2 (from rank 0 on, 2 ranks)". */
static void write_who(const struct rank_claim *all, int n, int first, char *text, size_t size)
{
  int ranks = 0, hosts = 0;
  text[0] = '\0';
  for (int r = first; r < n; r++) {
    int seen = 0;
    if (!same_claim(&all[r], &all[first])) continue;
    ranks++;
    for (int s = first; s < r && !seen; s++)
      seen = same_claim(&all[s], &all[first]) && all[s].host_first == all[r].host_first;
    const size_t used = strlen(text);
    if (!seen && hosts++ < HOSTS_NAMED)
      snprintf(text + used, size - used, "%s%s", used ? ", " : "", all[r].host);
  }
  size_t used = strlen(text);
  if (hosts > HOSTS_NAMED)
    used += (size_t)snprintf(text + used, size - used, " and %d more", hosts - HOSTS_NAMED);
  if (used >= size || n == 1) return;
  snprintf(text + used, size - used, ranks == 1 ? " (rank %d)" : " (from rank %d on, %d ranks)", first,
           ranks);
}

status_t rank_claims_check(const struct rank_claim *all, int n)
{
  char who[2 * META_HOST_BYTES];
  int mixed = 0;
  for (int r = 0; r < n; r++) mixed |= !same_devices(&all[r], &all[0]);
  if (!mixed && all[0].claim.backend >= 0) return STATUS_OK;
  if (mixed)
    log_fail(STATUS_ENVIRONMENT,
             "the ranks would use different backends, which are never mixed. Mend the hosts, or name one "
             "backend for all ranks with -b");
  for (int r = 0; r < n; r++) {
    int before = 0;
    const struct gpu_claim *c = &all[r].claim;
    for (int s = 0; s < r && !before; s++) before = same_claim(&all[s], &all[r]);
    if (before) continue;
    write_who(all, n, r, who, sizeof who);
    if (c->backend < 0)
      log_fail(STATUS_ENVIRONMENT, "host %s: %s", who, c->reason);
    else
      log_fail(STATUS_ENVIRONMENT, "host %s would use backend %s%s%s%s", who, gpu_backends[c->backend]->name,
               c->only_cpus ? " on its CPU" : "", c->reason[0] ? ": " : "", c->reason);
  }
  return STATUS_ENVIRONMENT;
}

static status_t backend_choose(struct placement *p, const struct placement_request *request)
{
  struct rank_claim mine = {.host_first = p->host_first}, *all = calloc((size_t)p->ranks, sizeof *all);
  if (!all) agree_abort(log_fail(STATUS_ENVIRONMENT, "out of host memory for the ranks' backends"));
  gpu_claim_make(request->backend, &mine.claim);
  if (request->device) mine.claim.only_cpus = 0; /* the user chose */
  snprintf(mine.host, sizeof mine.host, "%s", p->host);
  status_t status = watch_allgather(p->comm, &mine, all, sizeof mine, "the choice of a backend");
  if (status == STATUS_OK) status = rank_claims_check(all, p->ranks);
  free(all);
  RETURN_IF_FAILED(agree_status(p->comm, status));
  p->backend = gpu_backends[mine.claim.backend];
  memcpy(p->reason, mine.claim.reason, sizeof p->reason);
  return STATUS_OK;
}

static void table_free(struct host_table *table)
{
  for (int r = 0; table->bound && r < table->n; r++) hwloc_bitmap_free(table->bound[r]);
  for (int r = 0; table->ranks && r < table->n; r++) hwloc_bitmap_free(table->ranks[r].cpus);
  free(table->bound);
  free(table->devices);
  free(table->ranks);
}

static status_t devices_gather(MPI_Comm host, const struct gpu_choice *choice, struct host_table *table)
{
  int counts[table->n], offsets[table->n], bytes[table->n], total = 0;
  int mine = choice->n;
  RETURN_IF_FAILED(watch_allgather(host, &mine, counts, sizeof mine, "the host's devices"));
  const int each = (int)sizeof(struct gpu_device_info);
  for (int r = 0; r < table->n; r++) {
    offsets[r] = total * each;
    bytes[r] = counts[r] * each;
    total += counts[r];
  }
  table->devices = calloc((size_t)total + 1, sizeof *table->devices);
  if (!table->devices) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the host's devices");
  RETURN_IF_FAILED(guard_mpi(
      host,
      MPI_Allgatherv(choice->devices, mine * each, MPI_BYTE, table->devices, bytes, offsets, MPI_BYTE, host),
      "MPI_Allgatherv of devices"));
  for (int r = 0; r < table->n; r++) {
    table->ranks[r].devices = table->devices + offsets[r] / each;
    table->ranks[r].n_devices = counts[r];
  }
  return STATUS_OK;
}

static status_t bindings_gather(MPI_Comm host, hwloc_topology_t topology, struct host_table *table)
{
  char mine[CPUSET_TEXT] = "";
  hwloc_cpuset_t bound = hwloc_bitmap_alloc();
  char *all = calloc((size_t)table->n, CPUSET_TEXT);
  if (hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) != 0 || hwloc_bitmap_iszero(bound))
    hwloc_bitmap_copy(bound, hwloc_topology_get_topology_cpuset(topology));
  hwloc_bitmap_snprintf(mine, sizeof mine, bound);
  hwloc_bitmap_free(bound);
  if (!all) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the host's bindings");
  status_t status = watch_allgather(host, mine, all, CPUSET_TEXT, "the host's bindings");
  for (int r = 0; r < table->n && status == STATUS_OK; r++) {
    table->bound[r] = hwloc_bitmap_alloc();
    hwloc_bitmap_sscanf(table->bound[r], all + (size_t)r * CPUSET_TEXT);
    table->ranks[r].bound = table->bound[r];
  }
  free(all);
  return status;
}

static status_t placement_table_make(MPI_Comm host, hwloc_topology_t topology,
                                     const struct gpu_choice *choice, struct host_table *table)
{
  status_t status;
  struct host_table t = {0};
  MPI_Comm_size(host, &t.n);
  t.ranks = calloc((size_t)t.n, sizeof *t.ranks);
  t.bound = calloc((size_t)t.n, sizeof *t.bound);
  if (!t.ranks || !t.bound) {
    status = log_fail(STATUS_ENVIRONMENT, "out of host memory for the host's ranks");
    goto fail;
  }
  TRY(devices_gather(host, choice, &t), fail);
  TRY(bindings_gather(host, topology, &t), fail);
  *table = t;
  return STATUS_OK;
fail:
  table_free(&t);
  return status;
}

static void placement_take(struct placement *p, hwloc_topology_t topology, const struct gpu_choice *choice,
                           const struct binding_rank *mine)
{
  p->device = choice->index[mine->device];
  p->info = choice->devices[mine->device];
  p->numa = p->info.numa >= 0 ? p->info.numa : binding_device_numa(topology, &p->info);
  p->shared = mine->shared;
  p->host_unused = mine->host_unused;
  p->overlap = mine->overlap;
  hwloc_bitmap_list_snprintf(p->cpus, sizeof p->cpus, mine->cpus);
  log_set_device(p->info.uuid[0] ? p->info.uuid : p->info.name);
  bind_process(topology, mine->cpus, p->backend->on_host);
}

/* Compares the number of devices with --expect. A CPU in place of a missing GPU does not count. */
static status_t expect_check(const struct placement *p, const struct placement_request *request, int seen)
{
  if (request->expect > 0 && p->reason[0])
    return log_fail(STATUS_ENVIRONMENT, "host %s: %s, but --expect asks for %d. With -b cpu its CPU counts",
                    p->host, p->reason, request->expect);
  if (seen >= request->expect) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "host %s shows %d device%s of backend %s, but --expect asks for %d",
                  p->host, seen, seen == 1 ? "" : "s", p->backend->name, request->expect);
}

/* Fails if ranks share a GPU by mistake. Sharing counts as intended if all GPUs of the host are
 * visible, or if the user chose among them. */
static status_t sharing_check(const struct placement *p, const struct placement_request *request,
                              const struct host_table *table)
{
  struct gpu_bus bus;
  int shared = 0;
  for (int r = 0; r < table->n; r++) shared |= table->ranks[r].shared > 0;
  if (!shared || request->device || p->backend->on_host) return STATUS_OK;
  gpu_bus_read(&bus);
  const int visible = table->ranks[0].host_devices;
  if (bus.chosen || bus.n <= visible) return STATUS_OK;
  return log_fail(
      STATUS_ENVIRONMENT,
      "host %s: %d ranks would share %d GPU%s, but the PCI bus lists %d (%s). Mend the missing ones, "
      "start fewer ranks, or choose devices by --device or CUDA_VISIBLE_DEVICES",
      p->host, table->n, visible, visible == 1 ? "" : "s", bus.n, bus.listed);
}

static status_t host_assign(struct placement *p, const struct placement_request *request, MPI_Comm host,
                            hwloc_topology_t topology, const struct gpu_choice *choice)
{
  status_t status;
  struct host_table table = {NULL, NULL, NULL, 0};
  struct launcher launcher;
  /* without a launcher, a single rank keeps the cores that the user chose, even a single core */
  const int chosen = request->binding == BINDING_AUTO && p->ranks == 1 && !launcher_find(&launcher);
  const enum binding_policy policy = chosen ? BINDING_KEEP : request->binding;
  RETURN_IF_FAILED(placement_table_make(host, topology, choice, &table));
  TRY(binding_assign_devices(topology, table.ranks, table.n), done);
  TRY(expect_check(p, request, table.ranks[0].host_devices), done);
  TRY(sharing_check(p, request, &table), done);
  TRY(binding_assign_cpus(topology, policy, table.ranks, table.n), done);
  placement_take(p, topology, choice, &table.ranks[p->host_rank]);
  status = STATUS_OK;
done:
  table_free(&table);
  return status;
}

/* Hosts are identified by the shared-memory communicator, not by the global rank. */
static status_t host_choose(struct placement *p, const struct placement_request *request,
                            const struct gpu_choice *choice)
{
  status_t status;
  MPI_Comm host;
  hwloc_topology_t topology = NULL;
  TRY(agree_status(p->comm, binding_topology_load(NULL, &topology)), out);
  TRY(guard_mpi(p->comm, MPI_Comm_split_type(p->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                "MPI_Comm_split_type"),
      unload);
  status = host_assign(p, request, host, topology, choice);
  MPI_Comm_free(&host);
unload:
  hwloc_topology_destroy(topology);
out:
  return status;
}

status_t placement_choose(struct placement *p, const struct placement_request *request)
{
  struct gpu_choice choice = {NULL, NULL, 0};
  RETURN_IF_FAILED(backend_choose(p, request));
  status_t status = gpu_choice_make(p->backend, request->device, &choice);
  status = agree_status(p->comm, status);
  if (status == STATUS_OK) status = agree_status(p->comm, host_choose(p, request, &choice));
  gpu_choice_free(&choice);
  return status;
}
