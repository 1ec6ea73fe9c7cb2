/* SPDX-License-Identifier: MIT */
#include "comm/ranks/memory.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/guard.h"
#include "comm/ranks/watch.h"

/* Part of a rank's share that is reserved for MPI, drivers, code of kernels and threads: the
 * fraction RESERVE_SHARE, at least RESERVE_LEAST bytes, but at most 1/RESERVE_MOST of the share. */
#define RESERVE_SHARE 0.03
#define RESERVE_LEAST ((uint64_t)64 << 20)
#define RESERVE_MOST  8

static uint64_t reserve_of(uint64_t share)
{
  uint64_t reserve = (uint64_t)(RESERVE_SHARE * (double)share);
  if (reserve < RESERVE_LEAST) reserve = RESERVE_LEAST;
  return reserve < share / RESERVE_MOST ? reserve : share / RESERVE_MOST;
}

/* Counts the ranks of this host, and how many of them are in the control group \a name. */
static status_t host_count(MPI_Comm comm, const char name[sizeof((struct host_limit *)0)->name], int *ranks,
                           int *group)
{
  enum { NAME_BYTES = sizeof((struct host_limit *)0)->name };
  MPI_Comm host;
  RETURN_IF_FAILED(guard_mpi(comm, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                             "MPI_Comm_split_type"));
  MPI_Comm_size(host, ranks);
  char names[*ranks][NAME_BYTES];
  status_t status = watch_allgather(host, name, names, NAME_BYTES, "the host's control groups");
  *group = 0;
  for (int r = 0; r < *ranks && status == STATUS_OK; r++) *group += strcmp(names[r], name) == 0;
  MPI_Comm_free(&host);
  return status;
}

/* Chooses the limit with the smallest share. A GPU's only limit is its own memory: drivers map more
 * memory into a process than is allocated, so limits of the process do not apply. */
static void share_choose(const struct host_limit limits[GPU_LIMITS], const int sharing[GPU_LIMITS],
                         struct memory_budget *budget)
{
  int n = budget->device->info.is_cpu ? GPU_LIMITS : GPU_LIMIT_HOST;
  budget->share = UINT64_MAX;
  for (int l = 0; l < n; l++) {
    uint64_t share = limits[l].available / (uint64_t)sharing[l];
    if (share >= budget->share) continue;
    budget->share = share;
    budget->limit = limits[l];
    budget->sharing = sharing[l];
  }
  budget->usable = budget->share - reserve_of(budget->share);
}

status_t memory_measure(MPI_Comm comm, struct gpu_device *device, int sharing, struct memory_budget *budget)
{
  struct host_limit limits[GPU_LIMITS];
  struct memory_budget b = {.device = device};
  int of[GPU_LIMITS] = {device->info.is_cpu ? 1 : sharing, 1, 1, 1};
  RETURN_IF_FAILED(watch_barrier(comm, "the measurement of free memory"));
  RETURN_IF_FAILED(agree_status(comm, gpu_memory_limits(device, limits)));
  RETURN_IF_FAILED(host_count(comm, limits[GPU_LIMIT_HOST + HOST_GROUP].name,
                              &of[GPU_LIMIT_HOST + HOST_MACHINE], &of[GPU_LIMIT_HOST + HOST_GROUP]));
  share_choose(limits, of, &b);
  const uint64_t mine[] = {b.share, b.usable};
  uint64_t least[2];
  RETURN_IF_FAILED(watch_allreduce(comm, mine, least, 2, MPI_UINT64_T, MPI_MIN, "the least free memory"));
  b.share_least = least[0];
  b.usable_least = least[1];
  *budget = b;
  return STATUS_OK;
}

status_t memory_check(const struct memory_budget *b, uint64_t need, const char *what, const char *advice)
{
  char holders[GPU_HOLDERS_TEXT], shared[48] = "";
  if (need <= b->usable) return STATUS_OK;
  if (b->sharing > 1) snprintf(shared, sizeof shared, " for %d ranks", b->sharing);
  return log_fail_local(
      STATUS_ENVIRONMENT, "%s needs %s per rank, but only %s can be used: %s of %s free %s%s%s%s", what,
      report_bytes(need), report_bytes(b->usable), report_bytes(b->limit.available),
      report_bytes(b->limit.total), b->limit.name, shared, gpu_memory_holders(b->device, holders), advice);
}
