/* SPDX-License-Identifier: MIT */
#include "tools/network/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/mpi_check.h"
#include "comm/ranks/watch.h"
#include "suite/progress.h"
#include "tools/network/pattern.h"

/* For fewer points than this, threads cost more than they save. */
#define PARALLEL_POINTS 65536

/* Returns the index of a point's word at its owner \a rank: its position in the grid, or in the
 * pair's buffer. */
static uint64_t point_place(const struct bench_exchange *x, int rank, int64_t i, int64_t j, int64_t k)
{
  const struct layout *l = &x->layout;
  if (x->config.pair_bytes > 0) return ((uint64_t)rank << 40) + (uint64_t)k;
  return ((uint64_t)(l->origin[0] + i) * (uint64_t)l->global[1] + (uint64_t)(l->origin[1] + j)) *
             (uint64_t)l->global[2] +
         (uint64_t)(l->origin[2] + k);
}

/* Fills a box with the content of rank \a owner at positions higher by \a shift along k. */
static void box_fill(const struct bench_exchange *x, const struct box *box, int owner, int64_t shift,
                     uint64_t version, uint32_t *field)
{
  const struct layout *l = &x->layout;
  int64_t rows = box_extent(box, 0) * box_extent(box, 1), nj = box_extent(box, 1);
#pragma omp parallel for schedule(static) if (box_points(box) > PARALLEL_POINTS)
  for (int64_t row = 0; row < rows; row++) {
    int64_t i = box->lo[0] + row / nj, j = box->lo[1] + row % nj;
    uint64_t place = point_place(x, owner, i, j, shift);
    uint32_t *line = field + i * l->plane + j * l->pitch;
    for (int64_t k = box->lo[2]; k < box->hi[2]; k++) line[k] = pattern_word(place + (uint64_t)k, version);
  }
}

static uint64_t field_version(const struct bench_exchange *x, int field)
{
  return x->version * BENCH_FIELDS + (uint64_t)field;
}

static struct box whole_field(const struct bench_exchange *x)
{
  return (struct box){{0, 0, 0}, {x->layout.extent[0], x->layout.extent[1], x->layout.pitch}};
}

/* Returns the offset in floats of a box within each plane, and sets *n to the number of floats from
 * there to the end of the box in that plane. */
static int64_t span_of(const struct layout *l, const struct box *box, int64_t *n)
{
  const int64_t first = box->lo[1] * l->pitch + box->lo[2];
  *n = (box->hi[1] - 1) * l->pitch + box->hi[2] - first;
  return first;
}

/* Copies the memory that a box spans, with the gaps between its rows, from the device to the host's
 * copy of a field if \a out is 1, otherwise back. */
static status_t span_copy(struct bench_exchange *x, int f, const struct box *box, uint32_t *host, int out)
{
  const struct layout *l = &x->layout;
  int64_t floats, first = span_of(l, box, &floats);
  const size_t bytes = (size_t)floats * sizeof *host;
  for (int64_t i = box->lo[0]; i < box->hi[0] && box_points(box) > 0; i++) {
    size_t at = (size_t)(i * l->plane + first);
    RETURN_IF_FAILED(out ? gpu_copy_out(x->queue, host + at, x->fields[f], at * sizeof *host, bytes)
                         : gpu_copy_in(x->queue, x->fields[f], at * sizeof *host, host + at, bytes));
  }
  return gpu_sync(x->queue);
}

/* Fills all points of the rank before the first batch, later only those that it sends. */
static status_t field_make(struct bench_exchange *x, int f)
{
  const struct box *owned = &x->layout.owned;
  const struct box all = whole_field(x);
  if (x->version == 1) {
    memset(x->expected[f], 0, x->bytes);
    box_fill(x, owned, x->rank, 0, field_version(x, f), x->expected[f]);
    return span_copy(x, f, &all, x->expected[f], 0);
  }
  for (int m = 0; m < x->plan.n; m++)
    box_fill(x, &x->plan.messages[m].send, x->rank, 0, field_version(x, f), x->expected[f]);
  for (int m = 0; m < x->plan.n; m++)
    RETURN_IF_FAILED(span_copy(x, f, &x->plan.messages[m].send, x->expected[f], 0));
  return STATUS_OK;
}

/* Logs which message brought the differing word \a w of a field, or that no message may change that
 * point. Returns STATUS_WRONG. */
static status_t exchange_differs(const struct bench_exchange *x, int f, int64_t w)
{
  const struct layout *l = &x->layout;
  const int64_t at[3] = {w / l->plane, w % l->plane / l->pitch, w % l->pitch};
  char dir[8], sender[WATCH_NAME_MAX];
  const char *name = x->config.transport->name;
  for (int m = 0; m < x->plan.n; m++) {
    const struct halo_message *message = &x->plan.messages[m];
    int inside = 1;
    for (int d = 0; d < 3; d++) inside &= at[d] >= message->recv.lo[d] && at[d] < message->recv.hi[d];
    if (!inside) continue;
    return log_fail(STATUS_WRONG,
                    "transport %s: %lld bytes from %s (%s) arrived changed, first at point %lld,%lld,%lld: "
                    "%08x must be %08x",
                    name, (long long)box_points(&message->recv) * (long long)sizeof(float),
                    watch_rank_name(x->config.comm, message->peer, sender), halo_dir_name(message->dir, dir),
                    (long long)at[0], (long long)at[1], (long long)at[2], x->host[w], x->expected[f][w]);
  }
  return log_fail(STATUS_WRONG, "transport %s: point %lld,%lld,%lld changed, but no message belongs there",
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

static status_t span_check(struct bench_exchange *x, int f, const struct box *box)
{
  const struct layout *l = &x->layout;
  int64_t n, first = span_of(l, box, &n);
  RETURN_IF_FAILED(span_copy(x, f, box, x->host, 1));
  for (int64_t i = box->lo[0]; i < box->hi[0] && box_points(box) > 0; i++) {
    int64_t at = i * l->plane + first, w = at + first_difference(x->expected[f] + at, x->host + at, n);
    if (w < at + n) return exchange_differs(x, f, w);
  }
  return STATUS_OK;
}

static status_t field_check(struct bench_exchange *x, int f, int whole)
{
  const struct box all = whole_field(x);
  for (int m = 0; m < x->plan.n; m++) {
    const struct halo_message *message = &x->plan.messages[m];
    int64_t shift = x->config.pair_bytes > 0 ? -message->recv.lo[2] : 0;
    box_fill(x, &message->recv, message->peer, shift, field_version(x, f), x->expected[f]);
  }
  if (whole) return span_check(x, f, &all);
  for (int m = 0; m < x->plan.n; m++) {
    RETURN_IF_FAILED(span_check(x, f, &x->plan.messages[m].recv));
    RETURN_IF_FAILED(span_check(x, f, &x->plan.messages[m].send));
  }
  return STATUS_OK;
}

/* Flips a bit in the first halo of field 0, in device memory, if this batch is to be corrupted. */
static status_t exchange_corrupt(struct bench_exchange *x, int exchanges)
{
  const struct layout *l = &x->layout;
  uint32_t word;
  if (!pattern_fault(exchanges) || x->plan.n == 0) return STATUS_OK;
  const struct box *box = &x->plan.messages[0].recv;
  size_t at = (size_t)(box->lo[0] * l->plane + box->lo[1] * l->pitch + box->lo[2]) * sizeof word;
  RETURN_IF_FAILED(gpu_read(x->queue, &word, x->fields[0], at, sizeof word));
  word ^= 1;
  RETURN_IF_FAILED(gpu_copy_in(x->queue, x->fields[0], at, &word, sizeof word));
  return gpu_sync(x->queue);
}

static status_t exchange_geometry_init(struct bench_exchange *x)
{
  RETURN_IF_FAILED(mpi_check(MPI_Comm_rank(x->config.comm, &x->rank), "MPI_Comm_rank"));
  if (x->config.pair_bytes > 0) {
    halo_plan_pair(&x->plan, &x->layout, x->rank, x->config.pair_bytes / (int64_t)sizeof(float),
                   x->config.one_way);
  } else {
    decomp_init(&x->decomp, x->config.global, x->config.procs, x->rank);
    RETURN_IF_FAILED(layout_init(&x->layout, &x->decomp, x->config.depth, 0));
    halo_plan_init(&x->plan, &x->decomp, &x->layout, x->config.depth);
  }
  x->bytes = (size_t)layout_floats(&x->layout) * sizeof(float);
  return STATUS_OK;
}

static status_t exchange_memory_alloc(struct bench_exchange *x)
{
  RETURN_IF_FAILED(gpu_queue_create(x->config.device, GPU_NORMAL, &x->queue));
  for (int f = 0; f < BENCH_FIELDS; f++)
    RETURN_IF_FAILED((x->config.transport->alloc ? x->config.transport->alloc : gpu_alloc_shared)(
        x->config.device, x->bytes, &x->fields[f]));
  x->host = malloc(x->bytes);
  for (int f = 0; f < BENCH_FIELDS; f++) x->expected[f] = malloc(x->bytes);
  return x->host && x->expected[0] && x->expected[BENCH_FIELDS - 1]
             ? STATUS_OK
             : log_fail(STATUS_ENVIRONMENT, "out of host memory for fields of %zu bytes", x->bytes);
}

status_t bench_exchange_open(const struct bench_exchange_config *config, struct bench_exchange **x)
{
  status_t status = STATUS_OK;
  struct bench_exchange *r = calloc(1, sizeof *r);
  if (!r) status = log_fail(STATUS_ENVIRONMENT, "out of host memory for a measurement");
  if (r) {
    r->config = *config;
    status = exchange_geometry_init(r);
  }
  if (status == STATUS_OK) status = exchange_memory_alloc(r);
  TRY(agree_status(config->comm, status), fail);
  const struct halo_context context = {.comm = config->comm,
                                       .device = config->device,
                                       .layout = &r->layout,
                                       .plan = &r->plan,
                                       .fields = {r->fields[0], r->fields[1]},
                                       .compute = r->queue};
  TRY(agree_status(config->comm, halo_route_open(config->transport, &context, &r->route)), fail);
  *x = r;
  return STATUS_OK;
fail:
  bench_exchange_close(r);
  return status;
}

void bench_exchange_close(struct bench_exchange *x)
{
  if (!x) return;
  gpu_graph_destroy(x->graph);
  halo_route_close(x->route);
  free(x->host);
  for (int f = 0; f < BENCH_FIELDS; f++) free(x->expected[f]);
  for (int f = 0; f < BENCH_FIELDS; f++)
    halo_field_free(x->config.transport, x->config.device, &x->fields[f]);
  gpu_queue_destroy(x->queue);
  free(x);
}

static status_t exchange_once(struct bench_exchange *x)
{
  struct gpu_event *arrived = NULL;
  struct gpu_mem field = x->fields[x->exchanges++ % BENCH_FIELDS];
  RETURN_IF_FAILED(halo_route_start(x->route, field, NULL));
  RETURN_IF_FAILED(halo_route_finish(x->route, &arrived));
  return arrived ? gpu_wait(x->queue, arrived) : STATUS_OK;
}

static status_t exchanges_put(struct bench_exchange *x, int n)
{
  for (int e = 0; e < n; e++) RETURN_IF_FAILED(exchange_once(x));
  return halo_route_unattended(x->route) ? halo_route_lap(x->route) : STATUS_OK;
}

/* Captures a batch as a graph if possible, so that host calls do not delay short exchanges. */
static status_t exchange_graph_prepare(struct bench_exchange *x, int n)
{
  int can =
      halo_route_unattended(x->route) && gpu_has(x->config.device->backend, graphs) && n % BENCH_FIELDS == 0;
  if (can && x->graph && x->graph_n == n) return STATUS_OK;
  gpu_graph_destroy(x->graph);
  x->graph = NULL;
  x->graph_n = n;
  if (!can) return STATUS_OK;
  RETURN_IF_FAILED(gpu_graph_begin(x->queue));
  RETURN_IF_FAILED(exchanges_put(x, n));
  RETURN_IF_FAILED(gpu_graph_end(x->queue, &x->graph));
  return STATUS_OK;
}

status_t bench_exchange_batch(struct bench_exchange *x, int n, double *seconds)
{
  x->version++;
  for (int f = 0; f < BENCH_FIELDS; f++) RETURN_IF_FAILED(field_make(x, f));
  RETURN_IF_FAILED(exchange_graph_prepare(x, n));
  RETURN_IF_FAILED(watch_barrier(x->config.comm, "a barrier"));
  double begin = stats_now();
  RETURN_IF_FAILED(x->graph ? gpu_graph_launch(x->graph, x->queue) : exchanges_put(x, n));
  RETURN_IF_FAILED(halo_route_wait(x->route, x->queue));
  double taken = (stats_now() - begin) / n;
  if (pattern_fault) RETURN_IF_FAILED(exchange_corrupt(x, n));
  for (int f = 0; f < BENCH_FIELDS; f++) RETURN_IF_FAILED(field_check(x, f, x->version == 1));
  progress_tick();
  *seconds = taken;
  return STATUS_OK;
}

status_t bench_exchange_check(struct bench_exchange *x)
{
  const struct box all = whole_field(x);
  for (int f = 0; f < BENCH_FIELDS; f++) RETURN_IF_FAILED(span_check(x, f, &all));
  return STATUS_OK;
}
