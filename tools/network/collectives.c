/* SPDX-License-Identifier: MIT */
/* Collectives of doubles over all ranks. MPI_Allreduce in host memory shows the cost and scaling of
 * the reduction of the residual (gosa). The other collectives run in device memory, by NCCL or, if
 * the device's memory is host memory, by MPI. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/guard.h"
#include "comm/ranks/watch.h"
#include "comm/transports/nccl.h"
#include "suite/progress.h"
#include "tools/network/bench.h"
#include "tools/network/pattern.h"

#define REGION_BYTES ((int64_t)1 << 20) /* bytes of host memory for a batch of small calls */
#define BATCH_MAX    32
/* NCCL calls per batch: minimum number, maximum number, and total bytes. */
#define QUEUED_LEAST 8
#define QUEUED_MOST  128
#define QUEUED_BYTES ((int64_t)64 << 20)
#define WORD_BYTES   ((int64_t)sizeof(double))
/* For fewer doubles than this, threads cost more than they save. */
#define PARALLEL 65536

static const char *const names[2][2] = {{"MPI_Allreduce", "MPI_Alltoall"}, {"ncclAllReduce", "all-to-all"}};

struct collective {
  struct bench *bench;
  void *group;              /* NCCL's group; NULL: MPI carries the collective */
  struct gpu_queue *queue;  /* the device's queue; NULL: the data is in host memory */
  struct gpu_mem device[2]; /* [0]: input; [1]: output */
  double *host[2];
  int to_all;
  const char *name;
  int64_t each, version; /* doubles per call; content version of the batch */
  int n, pieces;         /* number of calls per batch, and of calls with memory of their own */
};

/* Small integers, so that a sum is exact in any order. */
static double summand(int rank, int64_t n, int64_t version)
{
  return (double)(hash_mix((uint64_t)rank << 48 ^ (uint64_t)version << 32 ^ (uint64_t)n) % 1009);
}

static double element_expected(const struct collective *c, int64_t n)
{
  const struct placement *p = &c->bench->placement;
  const int64_t block = c->each / p->ranks;
  double sum = 0;
  if (c->to_all) {
    const int64_t at = n % c->each;
    return summand((int)(at / block), n - at + p->rank * block + at % block, c->version);
  }
  for (int r = 0; r < p->ranks; r++) sum += summand(r, n, c->version);
  return sum;
}

static status_t sums_check(const struct collective *c)
{
  const int64_t all = c->each * c->pieces;
  int64_t wrong = all;
  if (pattern_fault && pattern_fault(1)) c->host[1][0] += 1;
#pragma omp parallel for schedule(static) reduction(min : wrong) if (all > PARALLEL)
  for (int64_t n = 0; n < all; n++)
    if (c->host[1][n] != element_expected(c, n) && n < wrong) wrong = n;
  if (wrong == all) return STATUS_OK;
  return log_fail(STATUS_WRONG, "%s: %s %lld is %g, not %g", c->name,
                  c->to_all ? "element" : "the sum of element", (long long)wrong, c->host[1][wrong],
                  element_expected(c, wrong));
}

/* Makes one call of a batch, on the doubles from index \a at on; NCCL only enqueues it. Sets *error
 * to MPI's error code if MPI is used. */
static status_t collective_call(const struct collective *c, int64_t at, int *error)
{
  const double *in = (c->queue ? c->device[0].handle : c->host[0]);
  double *out = (c->queue ? c->device[1].handle : c->host[1]);
  const struct placement *p = &c->bench->placement;
  const int n = (int)(c->to_all ? c->each / p->ranks : c->each);
  if (c->group)
    return nccl_collectives.call[c->to_all](c->group, p->ranks, in + at, out + at, (size_t)n, c->queue);
  *error = c->to_all ? MPI_Alltoall(in + at, n, MPI_DOUBLE, out + at, n, MPI_DOUBLE, p->comm)
                     : MPI_Allreduce(in + at, out + at, n, MPI_DOUBLE, MPI_SUM, p->comm);
  return STATUS_OK;
}

static status_t collective_batch(void *of, double *seconds)
{
  struct collective *c = of;
  const int64_t all = c->each * c->pieces;
  const size_t bytes = (size_t)(all * WORD_BYTES);
  int error = MPI_SUCCESS;
  c->version++;
#pragma omp parallel for schedule(static) if (all > PARALLEL)
  for (int64_t n = 0; n < all; n++) {
    c->host[0][n] = summand(c->bench->placement.rank, n, c->version);
    c->host[1][n] = -1;
  }
  for (int m = 0; m < 2 && c->queue; m++)
    RETURN_IF_FAILED(gpu_copy_in(c->queue, c->device[m], 0, c->host[m], bytes));
  if (c->queue) RETURN_IF_FAILED(gpu_sync(c->queue));
  RETURN_IF_FAILED(guard_begin(c->bench->placement.comm, c->name));
  const double begin = stats_now();
  for (int n = 0; n < c->n && error == MPI_SUCCESS; n++)
    RETURN_IF_FAILED(collective_call(c, n % c->pieces * c->each, &error));
  if (c->queue) RETURN_IF_FAILED(gpu_sync(c->queue));
  *seconds = (stats_now() - begin) / c->n;
  RETURN_IF_FAILED(guard_end(error, c->name));
  c->bench->transfers += c->n;
  progress_tick();
  if (c->queue) RETURN_IF_FAILED(gpu_copy_out(c->queue, c->host[1], c->device[1], 0, bytes));
  if (c->queue) RETURN_IF_FAILED(gpu_sync(c->queue));
  return sums_check(c);
}

static status_t collective_point(void *of, int64_t bytes, struct bench_point *point)
{
  struct collective *c = of;
  MPI_Comm comm = c->bench->placement.comm;
  double warm_up, mean;
  c->each = bytes / WORD_BYTES;
  c->pieces = (int)fmin(fmax((double)(REGION_BYTES / bytes), 1), BATCH_MAX);
  c->n = c->pieces;
  if (c->group) c->n = (int)fmin(fmax((double)QUEUED_BYTES / (double)bytes, QUEUED_LEAST), QUEUED_MOST);
  RETURN_IF_FAILED(agree_status(comm, collective_batch(c, &warm_up)));
  RETURN_IF_FAILED(bench_point_make(c->bench, comm, bytes, collective_batch, c, point, &mean));
  point->transfers *= c->n;
  return STATUS_OK;
}

static status_t memory_alloc(struct collective *c, size_t bytes, int on_device)
{
  struct gpu_device *device = c->bench->device;
  if (on_device) RETURN_IF_FAILED(gpu_queue_create(device, GPU_NORMAL, &c->queue));
  for (int m = 0; m < 2; m++) {
    if (on_device) RETURN_IF_FAILED(gpu_alloc(device, bytes, &c->device[m]));
    RETURN_IF_FAILED(gpu_alloc_host(device, bytes, GPU_HOST_PAGEABLE, (void **)&c->host[m]));
  }
  return STATUS_OK;
}

static status_t collective_run(struct bench *bench, enum bench_part part, int to_all, int nccl, int64_t most,
                               struct bench_path *path)
{
  const int on_device = part == BENCH_COLLECTIVES, ranks = bench->placement.ranks;
  const int64_t unit = to_all ? ranks * WORD_BYTES : WORD_BYTES; /* one double per rank */
  struct collective c = {.bench = bench, .to_all = to_all, .name = names[nccl][to_all]};
  MPI_Comm comm = bench->placement.comm;
  int measure;
  status_t status;
  RETURN_IF_FAILED(bench_curve_begin(bench, part, on_device ? BENCH_SHARES_ALL : BENCH_SHARES_FEW, &measure));
  *path = bench_path_of(
      0, -1, c.name, on_device ? "doubles in device memory" : "sum of doubles in host memory", "both", "all");
  path->bus = (to_all ? 1.0 : 2.0) * (ranks - 1) / ranks;
  if (!measure) return STATUS_OK;
  progress_begin("%s over all ranks", c.name);
  TRY(agree_status(comm, memory_alloc(&c, (size_t)(most > REGION_BYTES ? most : REGION_BYTES), on_device)),
      end);
  if (nccl) TRY(nccl_collectives.open(comm, bench->device, &c.group), end);
  TRY(bench_curve_measure(bench, comm, unit, most / unit * unit, 1, collective_point, &c, &path->curve), end);
  bench->plan.sizes_left_out += path->curve.left_out;
end:
  for (int m = 0; m < 2; m++) {
    gpu_free_host(bench->device, GPU_HOST_PAGEABLE, c.host[m]);
    gpu_free(bench->device, &c.device[m]);
  }
  gpu_queue_destroy(c.queue);
  if (c.group) nccl_collectives.close(c.group);
  return status;
}

status_t bench_reduce_run(struct bench *bench)
{
  const int64_t most = bench->config.max_bytes < REGION_BYTES ? bench->config.max_bytes : REGION_BYTES;
  RETURN_IF_FAILED(collective_run(bench, BENCH_REDUCE, 0, 0, most, &bench->reduce));
  bench->n_reduce = bench->reduce.curve.n > 0;
  return STATUS_OK;
}

status_t bench_collectives_run(struct bench *bench)
{
  char reason[GPU_TEXT_MAX];
  const struct gpu_backend *backend = bench->placement.backend;
  const int nccl = halo_transport_nccl.available(backend, reason);
  if (!nccl && backend->memory != GPU_MEMORY_HOST)
    return log_fail(STATUS_ENVIRONMENT, "--parts collectives: %s", reason);
  for (int to_all = 0; to_all < 2; to_all++) {
    struct bench_path *path = &bench->collectives[bench->n_collectives];
    RETURN_IF_FAILED(collective_run(bench, BENCH_COLLECTIVES, to_all, nccl, bench->config.max_bytes, path));
    bench->n_collectives += path->curve.n > 0;
  }
  return STATUS_OK;
}
