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

struct buffers {
  double *mine, *sum; /* a piece of each a call */
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

static status_t sums_check(const struct bench *bench, const struct buffers *b, int64_t count, int64_t version)
{
  if (pattern_fault && pattern_fault(1)) b->sum[0] += 1;
  for (int64_t n = 0; n < count; n++)
    if (b->sum[n] != sum_expected(bench->placement.ranks, n, version))
      return log_fail(STATUS_WRONG, "MPI_Allreduce: the sum of element %lld is %g, not %g", (long long)n,
                      b->sum[n], sum_expected(bench->placement.ranks, n, version));
  return STATUS_OK;
}

static status_t reduce_batch(struct bench *bench, const struct buffers *b, int64_t each, int n,
                             int64_t version, double *seconds)
{
  MPI_Comm comm = bench->placement.comm;
  for (int64_t e = 0; e < each * n; e++) {
    b->mine[e] = summand(bench->placement.rank, e, version);
    b->sum[e] = -1;
  }
  RETURN_IF_FAILED(guard_begin(comm, "MPI_Allreduce"));
  double begin = stats_now();
  int error = MPI_SUCCESS;
  for (int c = 0; c < n && error == MPI_SUCCESS; c++)
    error = MPI_Allreduce(b->mine + c * each, b->sum + c * each, (int)each, MPI_DOUBLE, MPI_SUM, comm);
  *seconds = (stats_now() - begin) / n;
  RETURN_IF_FAILED(guard_end(error, "MPI_Allreduce"));
  bench->transfers += n;
  progress_tick();
  return sums_check(bench, b, each * n, version);
}

static status_t reduce_point_measure(struct bench *bench, const struct buffers *b, int64_t bytes,
                                     struct bench_point *point)
{
  double samples[BENCH_SAMPLES_MAX], warm_up;
  MPI_Comm comm = bench->placement.comm;
  int64_t each = bytes / (int64_t)sizeof(double);
  int n = (int)(REGION_BYTES / bytes), count = (int)bench->config.samples;
  n = n > BATCH_MAX ? BATCH_MAX : n;
  RETURN_IF_FAILED(agree_status(comm, reduce_batch(bench, b, each, n, 0, &warm_up)));
  for (int s = 0; s < count; s++)
    RETURN_IF_FAILED(agree_status(comm, reduce_batch(bench, b, each, n, s + 1, &samples[s])));
  return bench_point_make(comm, bytes, samples, count, (int64_t)n * count, point);
}

static status_t reduce_curve_measure(struct bench *bench, const struct buffers *b, struct bench_curve *curve)
{
  int64_t most = bench->config.max_bytes < REGION_BYTES ? bench->config.max_bytes : REGION_BYTES;
  curve->n = 0;
  for (int64_t bytes = 8; bytes <= most; bytes *= bench->config.step)
    RETURN_IF_FAILED(reduce_point_measure(bench, b, bytes, &curve->points[curve->n++]));
  bench_fit(curve);
  return STATUS_OK;
}

status_t bench_reduce_run(struct bench *bench)
{
  struct buffers b = {malloc(REGION_BYTES), malloc(REGION_BYTES)};
  status_t status = b.mine && b.sum ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for sums");
  status = agree_status(bench->placement.comm, status);
  bench->reduce = bench_path_of(0, -1, "MPI_Allreduce", "sum of doubles in host memory", "both", "all");
  progress_begin("MPI_Allreduce over all ranks");
  if (status == STATUS_OK) status = reduce_curve_measure(bench, &b, &bench->reduce.curve);
  bench->n_reduce = status == STATUS_OK;
  free(b.mine);
  free(b.sum);
  return status;
}
