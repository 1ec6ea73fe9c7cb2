/* SPDX-License-Identifier: MIT */
/* Sums over all ranks, in host memory: what gosa costs, and how it grows. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/guard.h"
#include "comm/ranks/watch.h"
#include "suite/progress.h"
#include "tools/network/bench.h"
#include "tools/network/pattern.h"

#define REGION_BYTES ((int64_t)1 << 20)
#define BATCH_MAX    32
#define WORD_BYTES   ((int64_t)sizeof(double))

struct reduce {
  struct bench *bench;
  double *mine, *sum;    /* a piece of each per call */
  int64_t each, version; /* doubles per call; content of the batch */
  int n;
};

/* Small whole numbers, so that the sum is exact in any order. */
static double summand(int rank, int64_t n, int64_t version)
{
  return (double)((rank * 31 + n * 7 + version) % 1009);
}

static double sum_expected(int ranks, int64_t n, int64_t version)
{
  double sum = 0;
  for (int r = 0; r < ranks; r++) sum += summand(r, n, version);
  return sum;
}

static status_t sums_check(const struct reduce *r)
{
  if (pattern_fault && pattern_fault(1)) r->sum[0] += 1;
  for (int64_t n = 0; n < r->each * r->n; n++)
    if (r->sum[n] != sum_expected(r->bench->placement.ranks, n, r->version))
      return log_fail(STATUS_WRONG, "MPI_Allreduce: the sum of element %lld is %g, not %g", (long long)n,
                      r->sum[n], sum_expected(r->bench->placement.ranks, n, r->version));
  return STATUS_OK;
}

static status_t reduce_batch(void *of, double *seconds)
{
  struct reduce *r = of;
  MPI_Comm comm = r->bench->placement.comm;
  r->version++;
  for (int64_t e = 0; e < r->each * r->n; e++) {
    r->mine[e] = summand(r->bench->placement.rank, e, r->version);
    r->sum[e] = -1;
  }
  RETURN_IF_FAILED(guard_begin(comm, "MPI_Allreduce"));
  double begin = stats_now();
  int error = MPI_SUCCESS;
  for (int c = 0; c < r->n && error == MPI_SUCCESS; c++)
    error =
        MPI_Allreduce(r->mine + c * r->each, r->sum + c * r->each, (int)r->each, MPI_DOUBLE, MPI_SUM, comm);
  *seconds = (stats_now() - begin) / r->n;
  RETURN_IF_FAILED(guard_end(error, "MPI_Allreduce"));
  r->bench->transfers += r->n;
  progress_tick();
  return sums_check(r);
}

static status_t reduce_point_measure(void *of, int64_t bytes, struct bench_point *point)
{
  struct reduce *r = of;
  MPI_Comm comm = r->bench->placement.comm;
  double warm_up, mean;
  r->each = bytes / (int64_t)sizeof(double);
  r->n = REGION_BYTES / bytes > BATCH_MAX ? BATCH_MAX : (int)(REGION_BYTES / bytes);
  RETURN_IF_FAILED(agree_status(comm, reduce_batch(r, &warm_up)));
  RETURN_IF_FAILED(bench_point_make(r->bench, comm, bytes, reduce_batch, r, point, &mean));
  point->transfers *= r->n;
  return STATUS_OK;
}

status_t bench_reduce_run(struct bench *bench)
{
  const int64_t most = bench->config.max_bytes < REGION_BYTES ? bench->config.max_bytes : REGION_BYTES;
  MPI_Comm comm = bench->placement.comm;
  struct reduce r = {.bench = bench};
  int measure;
  RETURN_IF_FAILED(bench_curve_begin(bench, BENCH_REDUCE, BENCH_SHARES_FEW, &measure));
  if (!measure) return STATUS_OK;
  r.mine = malloc(REGION_BYTES);
  r.sum = malloc(REGION_BYTES);
  status_t status = r.mine && r.sum ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for sums");
  status = agree_status(comm, status);
  bench->reduce = bench_path_of(0, -1, "MPI_Allreduce", "sum of doubles in host memory", "both", "all");
  progress_begin("MPI_Allreduce over all ranks");
  if (status == STATUS_OK)
    status =
        bench_curve_measure(bench, comm, WORD_BYTES, most, 1, reduce_point_measure, &r, &bench->reduce.curve);
  bench->plan.sizes_left_out += bench->reduce.curve.left_out;
  bench->n_reduce = status == STATUS_OK;
  free(r.mine);
  free(r.sum);
  return status;
}
