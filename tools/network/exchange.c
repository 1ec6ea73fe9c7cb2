/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/network/rig.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/mpi_check.h"
#include "comm/ranks/watch.h"
#include "tools/network/pattern.h"

#define FIELDS 2
/* Rows of a pair's field begin at lines of a GPU's memory. */
#define LINE_FLOATS 32
/* Below this many points threads cost more than they save. */
#define PARALLEL_POINTS 65536

struct bench_rig {
  struct bench_rig_config config;
  int rank;
  struct decomp decomp;
  struct layout layout;
  struct halo_plan plan;
  struct gpu_queue *queue;
  struct gpu_graph *graph; /* of a batch of graph_n exchanges from an even one on; NULL: none yet */
  int graph_n;
  struct gpu_mem fields[FIELDS];
  size_t bytes;              /* of a field */
  uint32_t *host, *expected; /* one field each */
  uint64_t version;
  long exchanges;
  struct halo_route *route;
};

/* ---- content ---- */

/* The word of a point as its owner \a rank has it: by its place in the grid, or in the pair's
 * buffer. */
static uint64_t point_place(const struct bench_rig *rig, int rank, int64_t i, int64_t j, int64_t k)
{
  const struct layout *l = &rig->layout;
  if (rig->config.pair_bytes > 0) return ((uint64_t)rank << 40) + (uint64_t)k;
  return ((uint64_t)(l->origin[0] + i) * (uint64_t)l->global[1] + (uint64_t)(l->origin[1] + j)) *
             (uint64_t)l->global[2] +
         (uint64_t)(l->origin[2] + k);
}

/* Writes the points of a box as rank \a owner has them; \a shift takes a place of a pair's halo to
 * the owner's. */
static void box_fill(const struct bench_rig *rig, const struct box *box, int owner, int64_t shift,
                     uint64_t version, uint32_t *field)
{
  const struct layout *l = &rig->layout;
  int64_t rows = box_extent(box, 0) * box_extent(box, 1), nj = box_extent(box, 1);
#pragma omp parallel for schedule(static) if (box_points(box) > PARALLEL_POINTS)
  for (int64_t row = 0; row < rows; row++) {
    int64_t i = box->lo[0] + row / nj, j = box->lo[1] + row % nj;
    uint64_t place = point_place(rig, owner, i, j, shift);
    uint32_t *line = field + i * l->plane + j * l->pitch;
    for (int64_t k = box->lo[2]; k < box->hi[2]; k++) line[k] = pattern_word(place + (uint64_t)k, version);
  }
}

static uint64_t field_version(const struct bench_rig *rig, int field)
{
  return rig->version * FIELDS + (uint64_t)field;
}

static status_t content_make(struct bench_rig *rig)
{
  rig->version++;
  for (int f = 0; f < FIELDS; f++) {
    memset(rig->host, 0, rig->bytes);
    box_fill(rig, &rig->layout.owned, rig->rank, 0, field_version(rig, f), rig->host);
    RETURN_IF_FAILED(gpu_copy_in(rig->queue, rig->fields[f], 0, rig->host, rig->bytes));
    RETURN_IF_FAILED(gpu_sync(rig->queue));
  }
  return STATUS_OK;
}

/* Names the message that a differing point came by, or says that none may write there. */
static status_t differs(const struct bench_rig *rig, const int64_t at[3])
{
  char dir[8];
  const char *name = rig->config.transport->name;
  for (int m = 0; m < rig->plan.n; m++) {
    const struct halo_message *message = &rig->plan.messages[m];
    int inside = 1;
    for (int d = 0; d < 3; d++) inside &= at[d] >= message->recv.lo[d] && at[d] < message->recv.hi[d];
    if (!inside) continue;
    return log_fail(
        STATUS_WRONG,
        "transport %s: %lld bytes from rank %d (%s) arrived changed, first at point %lld,%lld,%lld", name,
        (long long)box_points(&message->recv) * (long long)sizeof(float), message->peer,
        halo_dir_name(message->dir, dir), (long long)at[0], (long long)at[1], (long long)at[2]);
  }
  return log_fail(STATUS_WRONG, "transport %s: point %lld,%lld,%lld changed, and no message belongs there",
                  name, (long long)at[0], (long long)at[1], (long long)at[2]);
}

static int64_t first_difference(const uint32_t *expected, const uint32_t *field, int64_t n)
{
  int64_t first = n;
#pragma omp parallel for schedule(static) reduction(min : first) if (n > PARALLEL_POINTS)
  for (int64_t w = 0; w < n; w++)
    if (field[w] != expected[w] && w < first) first = w;
  return first;
}

static status_t field_check(struct bench_rig *rig, int f)
{
  const struct layout *l = &rig->layout;
  int64_t n = layout_floats(l);
  RETURN_IF_FAILED(gpu_copy_out(rig->queue, rig->host, rig->fields[f], 0, rig->bytes));
  RETURN_IF_FAILED(gpu_sync(rig->queue));
  memset(rig->expected, 0, rig->bytes);
  box_fill(rig, &l->owned, rig->rank, 0, field_version(rig, f), rig->expected);
  for (int m = 0; m < rig->plan.n; m++) {
    const struct halo_message *message = &rig->plan.messages[m];
    int64_t shift = rig->config.pair_bytes > 0 ? -message->recv.lo[2] : 0;
    box_fill(rig, &message->recv, message->peer, shift, field_version(rig, f), rig->expected);
  }
  int64_t w = first_difference(rig->expected, rig->host, n);
  if (w == n) return STATUS_OK;
  return differs(rig, (const int64_t[3]){w / l->plane, w % l->plane / l->pitch, w % l->pitch});
}

/* Test hook: damages the first halo of a field where it lies, on the device. */
static status_t corrupt(struct bench_rig *rig, int exchanges)
{
  const struct layout *l = &rig->layout;
  uint32_t word;
  if (!pattern_corrupt_now(exchanges) || rig->plan.n == 0) return STATUS_OK;
  const struct box *box = &rig->plan.messages[0].recv;
  size_t at = (size_t)(box->lo[0] * l->plane + box->lo[1] * l->pitch + box->lo[2]) * sizeof word;
  RETURN_IF_FAILED(gpu_copy_out(rig->queue, &word, rig->fields[0], at, sizeof word));
  RETURN_IF_FAILED(gpu_sync(rig->queue));
  word ^= 1;
  RETURN_IF_FAILED(gpu_copy_in(rig->queue, rig->fields[0], at, &word, sizeof word));
  return gpu_sync(rig->queue);
}

static status_t content_check(struct bench_rig *rig)
{
  for (int f = 0; f < FIELDS; f++) RETURN_IF_FAILED(field_check(rig, f));
  return STATUS_OK;
}

/* ---- set-up ---- */

/* A row of what is sent, and behind it one of what is received. */
static void pair_init(struct bench_rig *rig)
{
  int64_t n = rig->config.pair_bytes / (int64_t)sizeof(float);
  int64_t row = (n + LINE_FLOATS - 1) / LINE_FLOATS * LINE_FLOATS;
  int side = rig->rank == 0 ? 1 : -1;
  int64_t out = rig->config.one_way && rig->rank != 0 ? 0 : n;
  int64_t in = rig->config.one_way && rig->rank == 0 ? 0 : n;
  rig->layout = (struct layout){
      .extent = {1, 1, 2 * row}, .pitch = 2 * row, .plane = 2 * row, .global = {1, 1, 2 * row}};
  rig->layout.owned = (struct box){{0, 0, 0}, {1, 1, n}};
  rig->plan = (struct halo_plan){.depth = 1, .n = 1, .floats = out, .recv_floats = in};
  rig->plan.messages[0] = (struct halo_message){.peer = 1 - rig->rank,
                                                .dir = {side, 0, 0},
                                                .send = {{0, 0, 0}, {1, 1, out}},
                                                .recv = {{0, 0, row}, {1, 1, row + in}},
                                                .count = out,
                                                .recv_count = in,
                                                .send_tag = rig->rank,
                                                .recv_tag = 1 - rig->rank};
}

static status_t geometry_init(struct bench_rig *rig)
{
  RETURN_IF_FAILED(mpi_check(MPI_Comm_rank(rig->config.comm, &rig->rank), "MPI_Comm_rank"));
  if (rig->config.pair_bytes > 0) {
    pair_init(rig);
  } else {
    decomp_init(&rig->decomp, rig->config.global, rig->config.procs, rig->rank);
    RETURN_IF_FAILED(layout_init(&rig->layout, &rig->decomp, rig->config.depth, 0));
    halo_plan_init(&rig->plan, &rig->decomp, &rig->layout, rig->config.depth);
  }
  rig->bytes = (size_t)layout_floats(&rig->layout) * sizeof(float);
  return STATUS_OK;
}

static status_t memory_alloc(struct bench_rig *rig)
{
  RETURN_IF_FAILED(gpu_queue_create(rig->config.device, GPU_NORMAL, &rig->queue));
  for (int f = 0; f < FIELDS; f++)
    RETURN_IF_FAILED((rig->config.transport->alloc ? rig->config.transport->alloc : gpu_alloc_shared)(
        rig->config.device, rig->bytes, &rig->fields[f]));
  rig->host = malloc(rig->bytes);
  rig->expected = malloc(rig->bytes);
  return rig->host && rig->expected
             ? STATUS_OK
             : log_fail(STATUS_ENVIRONMENT, "out of host memory for fields of %zu bytes", rig->bytes);
}

static status_t exchange_open(struct bench_rig *rig)
{
  struct halo_context context = {.comm = rig->config.comm,
                                 .device = rig->config.device,
                                 .layout = &rig->layout,
                                 .plan = &rig->plan,
                                 .fields = {rig->fields[0], rig->fields[1]},
                                 .compute = rig->queue};
  return halo_route_open(rig->config.transport, &context, &rig->route);
}

status_t bench_rig_open(const struct bench_rig_config *config, struct bench_rig **rig)
{
  status_t status = STATUS_OK;
  struct bench_rig *r = calloc(1, sizeof *r);
  if (!r) status = log_fail(STATUS_ENVIRONMENT, "out of host memory for a measurement");
  if (r) {
    r->config = *config;
    status = geometry_init(r);
  }
  if (status == STATUS_OK) status = memory_alloc(r);
  TRY(agree_status(config->comm, status), fail);
  TRY(agree_status(config->comm, exchange_open(r)), fail);
  *rig = r;
  return STATUS_OK;
fail:
  bench_rig_close(r);
  return status;
}

void bench_rig_close(struct bench_rig *rig)
{
  if (!rig) return;
  gpu_graph_destroy(rig->graph);
  halo_route_close(rig->route);
  free(rig->expected);
  free(rig->host);
  for (int f = 0; f < FIELDS; f++)
    halo_field_free(rig->config.transport, rig->config.device, &rig->fields[f]);
  gpu_queue_destroy(rig->queue);
  free(rig);
}

/* ---- measuring ---- */

static status_t exchange_once(struct bench_rig *rig)
{
  struct gpu_event *arrived = NULL;
  struct gpu_mem field = rig->fields[rig->exchanges++ % FIELDS];
  RETURN_IF_FAILED(halo_route_start(rig->route, field, NULL));
  RETURN_IF_FAILED(halo_route_finish(rig->route, &arrived));
  return arrived ? gpu_wait(rig->queue, arrived) : STATUS_OK;
}

static status_t exchanges_put(struct bench_rig *rig, int n)
{
  for (int e = 0; e < n; e++) RETURN_IF_FAILED(exchange_once(rig));
  return halo_route_unattended(rig->route) ? halo_route_lap(rig->route) : STATUS_OK;
}

/* Records the batch where that can be: then a host's calls do not stand in the way of short
 * exchanges. */
static status_t graph_prepare(struct bench_rig *rig, int n)
{
  const struct gpu_backend *backend = rig->config.device->backend;
  int can = halo_route_unattended(rig->route) && backend->graph_begin && n % FIELDS == 0;
  if (can && rig->graph && rig->graph_n == n) return STATUS_OK;
  gpu_graph_destroy(rig->graph);
  rig->graph = NULL;
  rig->graph_n = n;
  if (!can) return STATUS_OK;
  RETURN_IF_FAILED(backend->graph_begin(rig->queue));
  RETURN_IF_FAILED(exchanges_put(rig, n));
  RETURN_IF_FAILED(backend->graph_end(rig->queue, &rig->graph));
  return STATUS_OK;
}

static status_t batch_run(struct bench_rig *rig, int n)
{
  RETURN_IF_FAILED(rig->graph ? rig->config.device->backend->graph_launch(rig->graph, rig->queue)
                              : exchanges_put(rig, n));
  return halo_route_wait(rig->route, rig->queue);
}

status_t bench_rig_batch(struct bench_rig *rig, int n, double *seconds)
{
  RETURN_IF_FAILED(content_make(rig));
  RETURN_IF_FAILED(graph_prepare(rig, n));
  RETURN_IF_FAILED(watch_barrier(rig->config.comm, "a barrier"));
  double begin = stats_now();
  RETURN_IF_FAILED(batch_run(rig, n));
  double taken = (stats_now() - begin) / n;
  RETURN_IF_FAILED(corrupt(rig, n));
  RETURN_IF_FAILED(content_check(rig));
  *seconds = taken;
  return STATUS_OK;
}

status_t bench_rig_times(struct bench_rig *rig, struct halo_times *times)
{
  memset(times, 0, sizeof *times);
  return halo_route_times(rig->route, times);
}

void bench_rig_path(const struct bench_rig *rig, int m, struct halo_path *path)
{
  halo_route_path(rig->route, m, path);
}

const struct halo_plan *bench_rig_plan(const struct bench_rig *rig)
{
  return &rig->plan;
}
