/* SPDX-License-Identifier: MIT */
/* Points and paths as all parts make them, and how ranks agree on them. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "tools/network/bench.h"

status_t bench_point_make(MPI_Comm comm, int64_t bytes, double *samples, int n, int64_t transfers,
                          struct bench_point *point)
{
  double slowest[BENCH_SAMPLES_MAX];
  RETURN_IF_FAILED(watch_allreduce(comm, samples, slowest, n, MPI_DOUBLE, MPI_MAX, "samples"));
  struct stats_summary s = stats_summarise(slowest, (size_t)n);
  *point = (struct bench_point){
      .bytes = bytes, .seconds = s.median, .best = s.min, .noise = stats_noise(&s), .transfers = transfers};
  return STATUS_OK;
}

status_t bench_agree(MPI_Comm comm, status_t status)
{
  int ranks;
  MPI_Comm_size(comm, &ranks);
  return ranks > 1 ? agree_status(comm, status) : status;
}

status_t bench_rest(const struct bench *bench, int measured)
{
  MPI_Comm comm = bench->placement.comm;
  return (measured ? watch_barrier : watch_patiently)(comm, "others that measure");
}

struct bench_path bench_path_of(int rank, int peer, const char *method, const char *why,
                                const char *direction, const char *load)
{
  struct bench_path path = {.rank = rank, .peer = peer};
  snprintf(path.method, sizeof path.method, "%s", method);
  snprintf(path.used, sizeof path.used, "%s", method);
  snprintf(path.why, sizeof path.why, "%s", why);
  snprintf(path.direction, sizeof path.direction, "%s", direction);
  snprintf(path.load, sizeof path.load, "%s", load);
  return path;
}

status_t bench_path_collect(struct bench *bench, int owner, const struct bench_path *path,
                            struct bench_path **list, int *n)
{
  const struct placement *p = &bench->placement;
  struct bench_path one = *path, *longer;
  status_t status = STATUS_OK;
  RETURN_IF_FAILED(watch_bcast(p->comm, &one, (int)sizeof one, MPI_BYTE, owner, "a path"));
  if (one.curve.n == 0) return STATUS_OK;
  if (p->rank == 0) {
    longer = realloc(*list, (size_t)(*n + 1) * sizeof *longer);
    if (longer) {
      *list = longer;
      longer[(*n)++] = one;
    } else {
      status = log_fail(STATUS_ENVIRONMENT, "out of host memory for paths");
    }
  }
  return agree_status(p->comm, status);
}
