/* SPDX-License-Identifier: MIT */
/* Copies between host memory and device: pinned and pageable, in each direction and both at once,
 * by one rank per host and by all ranks. A transfer includes the wait for its copy. */
#include <stdio.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/guard.h"
#include "comm/ranks/watch.h"
#include "suite/progress.h"
#include "tools/network/bench.h"
#include "tools/network/pattern.h"

/* Bytes of memory for a batch of small transfers, each at its own offset. */
#define REGION_BYTES ((int64_t)4 << 20)
#define BATCH_MAX    64

enum direction { IN, OUT, BOTH, DIRECTIONS };

static const char *const direction_names[DIRECTIONS] = {"in", "out", "both"};

struct host_path_rig {
  struct bench *bench;
  enum gpu_host_kind kind;
  size_t region;
  struct gpu_queue *queue[2]; /* in, out */
  struct gpu_mem device[2];
  unsigned char *host[2];
  uint64_t version;
};

static void host_path_rig_close(struct host_path_rig *rig)
{
  for (int q = 0; q < 2; q++) {
    gpu_free_host(rig->bench->device, rig->kind, rig->host[q]);
    gpu_free(rig->bench->device, &rig->device[q]);
    gpu_queue_destroy(rig->queue[q]);
  }
}

static status_t host_path_rig_open(struct bench *bench, enum gpu_host_kind kind, struct host_path_rig *rig)
{
  status_t status;
  int64_t most = bench->config.max_bytes;
  struct host_path_rig r = {.bench = bench,
                            .kind = kind,
                            .region = (size_t)(most > REGION_BYTES ? most : REGION_BYTES),
                            .version = (uint64_t)bench->transfers}; /* a new one */
  for (int q = 0; q < 2; q++) {
    TRY(gpu_queue_create(bench->device, GPU_NORMAL, &r.queue[q]), fail);
    TRY(gpu_alloc(bench->device, r.region, &r.device[q]), fail);
    TRY(gpu_alloc_host(bench->device, r.region, kind, (void **)&r.host[q]), fail);
  }
  *rig = r;
  return STATUS_OK;
fail:
  host_path_rig_close(&r);
  return status;
}

static status_t host_path_differs(const struct host_path_rig *rig, enum direction direction, size_t bytes,
                                  size_t at)
{
  return log_fail(STATUS_WRONG,
                  "%s host memory, %s: of %zu bytes copied the word at byte %zu arrived changed",
                  rig->kind == GPU_HOST_PINNED ? "pinned" : "pageable",
                  direction == IN ? "host to device" : "device to host", bytes, at);
}

/* Fills the source with new content. The destination has that of another version. */
static status_t host_path_content_make(struct host_path_rig *rig, enum direction direction, size_t bytes)
{
  rig->version++;
  if (direction != IN) {
    pattern_fill(rig->host[0], bytes, 2 * rig->version);
    RETURN_IF_FAILED(gpu_copy_in(rig->queue[0], rig->device[1], 0, rig->host[0], bytes));
    RETURN_IF_FAILED(gpu_sync(rig->queue[0]));
  }
  if (direction != OUT) pattern_fill(rig->host[0], bytes, 2 * rig->version + 1);
  return STATUS_OK;
}

static status_t host_path_content_check(struct host_path_rig *rig, enum direction direction, size_t bytes,
                                        int transfers)
{
  size_t at;
  const int corrupt = pattern_fault && pattern_fault(transfers);
  if (direction != IN) {
    if (corrupt) rig->host[1][0] ^= 1;
    at = pattern_check(rig->host[1], bytes, 2 * rig->version);
    if (at < bytes) return host_path_differs(rig, OUT, bytes, at);
  }
  if (direction == OUT) return STATUS_OK;
  RETURN_IF_FAILED(gpu_read(rig->queue[1], rig->host[1], rig->device[0], 0, bytes));
  if (corrupt) rig->host[1][0] ^= 1;
  at = pattern_check(rig->host[1], bytes, 2 * rig->version + 1);
  return at < bytes ? host_path_differs(rig, IN, bytes, at) : STATUS_OK;
}

static status_t copy_once(struct host_path_rig *rig, enum direction direction, size_t offset, size_t bytes)
{
  if (direction != OUT)
    RETURN_IF_FAILED(gpu_copy_in(rig->queue[IN], rig->device[IN], offset, rig->host[IN] + offset, bytes));
  if (direction != IN)
    RETURN_IF_FAILED(gpu_copy_out(rig->queue[OUT], rig->host[OUT] + offset, rig->device[OUT], offset, bytes));
  if (direction != OUT) RETURN_IF_FAILED(gpu_sync(rig->queue[IN]));
  return direction != IN ? gpu_sync(rig->queue[OUT]) : STATUS_OK;
}

/* A curve being measured: its direction, and the size and number of transfers of its batch. */
struct host_path_curve {
  struct host_path_rig *rig;
  MPI_Comm comm;
  enum direction direction;
  size_t bytes;
  int n;
};

static status_t host_path_batch(void *of, double *seconds)
{
  const struct host_path_curve *c = of;
  struct host_path_rig *rig = c->rig;
  RETURN_IF_FAILED(host_path_content_make(rig, c->direction, c->bytes * (size_t)c->n));
  RETURN_IF_FAILED(watch_barrier(c->comm, "a barrier"));
  double begin = stats_now();
  for (int t = 0; t < c->n; t++)
    RETURN_IF_FAILED(copy_once(rig, c->direction, (size_t)t * c->bytes, c->bytes));
  *seconds = (stats_now() - begin) / c->n;
  rig->bench->transfers += c->n;
  progress_tick();
  return host_path_content_check(rig, c->direction, c->bytes * (size_t)c->n, c->n);
}

static status_t host_path_point_measure(void *of, int64_t bytes, struct bench_point *point)
{
  struct host_path_curve *c = of;
  int n = (int)(REGION_BYTES / bytes);
  double warm_up, mean;
  c->bytes = (size_t)bytes;
  c->n = n < 1 ? 1 : n > BATCH_MAX ? BATCH_MAX : n;
  RETURN_IF_FAILED(bench_agree(c->comm, host_path_batch(c, &warm_up)));
  RETURN_IF_FAILED(bench_point_make(c->rig->bench, c->comm, bytes, host_path_batch, c, point, &mean));
  point->transfers *= c->n;
  return STATUS_OK;
}

/* Ranks with the same number on their hosts share no resource and measure at the same time. */
static status_t host_path_part_measure(struct bench *bench, struct host_path_rig *rig,
                                       enum direction direction, int first, int last)
{
  struct placement *p = &bench->placement;
  int mine = p->host_rank >= first && p->host_rank < last;
  struct bench_path path = bench_path_of(p->rank, -1, rig->kind == GPU_HOST_PINNED ? "pinned" : "pageable",
                                         "as asked of the device layer", direction_names[direction],
                                         last - first == 1 ? "alone" : "all");
  struct host_path_curve curve = {rig, MPI_COMM_NULL, direction, 0, 0};
  int measure;
  RETURN_IF_FAILED(bench_curve_begin(bench, BENCH_HOST, BENCH_SHARES_FEW, &measure));
  if (!measure) return STATUS_OK;
  RETURN_IF_FAILED(guard_mpi(
      p->comm,
      MPI_Comm_split(p->comm, mine ? (last - first == 1 ? p->rank : 0) : MPI_UNDEFINED, p->rank, &curve.comm),
      "MPI_Comm_split"));
  status_t status = STATUS_OK;
  if (mine)
    status = bench_curve_measure(bench, curve.comm, bench->config.min_bytes, bench->config.max_bytes, 1,
                                 host_path_point_measure, &curve, &path.curve);
  if (curve.comm != MPI_COMM_NULL) MPI_Comm_free(&curve.comm);
  RETURN_IF_FAILED(bench_rest(bench, mine));
  RETURN_IF_FAILED(agree_status(p->comm, status));
  for (int r = 0; r < p->ranks; r++)
    RETURN_IF_FAILED(bench_path_collect(bench, r, &path, &bench->host, &bench->n_host));
  return STATUS_OK;
}

static status_t kind_run(struct bench *bench, enum gpu_host_kind kind)
{
  struct host_path_rig rig;
  int most;
  RETURN_IF_FAILED(watch_allreduce(bench->placement.comm, &bench->placement.host_ranks, &most, 1, MPI_INT,
                                   MPI_MAX, "ranks of a host"));
  status_t status = STATUS_OK;
  rig = (struct host_path_rig){.bench = bench, .kind = kind};
  if (!bench->plan.counting)
    RETURN_IF_FAILED(agree_status(bench->placement.comm, host_path_rig_open(bench, kind, &rig)));
  for (int direction = 0; direction < DIRECTIONS && status == STATUS_OK; direction++) {
    static const char *const directions[DIRECTIONS] = {"to device", "to host", "both directions"};
    progress_begin("host and device, %s memory, %s", kind == GPU_HOST_PINNED ? "pinned" : "pageable",
                   directions[direction]);
    for (int h = 0; h < most && status == STATUS_OK; h++)
      status = host_path_part_measure(bench, &rig, (enum direction)direction, h, h + 1);
    if (most > 1 && status == STATUS_OK)
      status = host_path_part_measure(bench, &rig, (enum direction)direction, 0, most);
  }
  host_path_rig_close(&rig);
  return status;
}

status_t bench_host_run(struct bench *bench)
{
  RETURN_IF_FAILED(kind_run(bench, GPU_HOST_PINNED));
  return kind_run(bench, GPU_HOST_PAGEABLE);
}
