/* SPDX-License-Identifier: MIT */
/* himeno-sim-ranks: all ranks of a simulated run, in one process, started by smpirun.
 * Decomposition, halo plan and transport are himeno-gpu's own; kernels take the times of the fitted
 * model. */
#include "config.h"

#include <jansson.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "base/start.h"
#include "base/stats.h"
#include "comm/halo/transport.h"
#include "comm/ranks/agree.h"
#include "tools/predict/geometry.h"
#include "tools/predict/model.h"
#include "tools/sim/device.h"
#include "tools/sim/poll.h"
#include "tools/sim/reduce.h"
#include "tools/sim/sim.h"

/* Sweeps before the timed ones, until each rank runs as far ahead of its neighbours as it will. */
#define WARM_PASSES 2

enum phase { INTERIOR, BOUNDARY, WAIT, TRANSFER, EXPOSED, SECONDS, PHASES };

static const char *const phase_names[PHASES] = {"interior", "boundary", "wait",
                                                "transfer", "exposed",  "sweep"};

/** The same for all ranks: they share the variables of this process. */
static struct {
  struct model model;
  int64_t global[3];
  int procs[3], per_host, way, passes, users;
  struct model_route by;
  char result[512];
  double *times[PHASES]; /* by rank, seconds a sweep */
  size_t buffer_bytes;
} plan;

/** One rank. */
struct rank {
  int rank, ranks;
  struct geometry geometry;
  struct decomp decomp;
  struct layout layout;
  struct halo_plan halo;
  double boundary, interior, after; /* seconds of a pass */
  struct gpu_device *device;
  struct gpu_queue *compute;
  struct gpu_event *computed;
  struct halo_exchange *exchange; /* NULL without neighbours */
  struct reduce *reduce;
};

/* ---- the plan ---- */

static status_t plan_fill(const json_t *document)
{
  const char *model = NULL, *transport = NULL, *result = NULL;
  struct study_between between;
  json_int_t g[3];
  if (json_unpack((json_t *)document, "{s:s, s:s, s:s, s:[I,I,I], s:[i,i,i], s:[F,F], s:i, s:i}", "model",
                  &model, "transport", &transport, "result", &result, "global", &g[0], &g[1], &g[2], "procs",
                  &plan.procs[0], &plan.procs[1], &plan.procs[2], "between", &between.latency,
                  &between.bandwidth, "per_host", &plan.per_host, "passes", &plan.passes) != 0)
    return log_fail(STATUS_USAGE, "the plan is not as himeno-sim writes it");
  for (int d = 0; d < 3; d++) plan.global[d] = g[d];
  snprintf(plan.result, sizeof plan.result, "%s", result);
  RETURN_IF_FAILED(model_json_read(model, NULL, &plan.model));
  model_between_set(&between, &plan.model.paths);
  plan.way = model_way(&plan.model, transport);
  int ranks = plan.procs[0] * plan.procs[1] * plan.procs[2];
  plan.by = model_route(&plan.model, (ranks + plan.per_host - 1) / plan.per_host, plan.way);
  return STATUS_OK;
}

static status_t plan_read(const char *path, int ranks)
{
  json_t *document;
  RETURN_IF_FAILED(report_json_read(path, &document));
  status_t status = plan_fill(document);
  json_decref(document);
  if (status != STATUS_OK) return status;
  for (int p = 0; p < PHASES; p++)
    if (!(plan.times[p] = calloc((size_t)ranks, sizeof(double))))
      return log_fail(STATUS_ENVIRONMENT, "out of memory for the times of %d ranks", ranks);
  return poll_open(ranks);
}

/* The largest halo buffer of any rank. */
static status_t buffers_size(void)
{
  struct decomp decomp;
  struct layout layout;
  struct halo_plan halo;
  int ranks = plan.procs[0] * plan.procs[1] * plan.procs[2], depth = plan.model.depth;
  plan.buffer_bytes = 1;
  for (int r = 0; r < ranks; r++) {
    decomp_init(&decomp, plan.global, plan.procs, r);
    RETURN_IF_FAILED(layout_init(&layout, &decomp, depth, 0));
    halo_plan_init(&halo, &decomp, &layout, depth);
    int64_t most = halo.floats > halo.recv_floats ? halo.floats : halo.recv_floats;
    if ((size_t)most * sizeof(float) > plan.buffer_bytes) plan.buffer_bytes = (size_t)most * sizeof(float);
  }
  return STATUS_OK;
}

/* ---- a rank ---- */

static enum study_where where_of(const struct halo_message *message)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return message->peer / plan.per_host != rank / plan.per_host ? STUDY_OTHER_HOST : STUDY_SAME_HOST;
}

static double latency_between(const struct halo_message *message)
{
  return sim_latency_of(&plan.model, plan.way, where_of(message));
}

static double chain_of_rank(void)
{
  struct geometry g;
  struct model_parts parts;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (geometry_of_rank(plan.global, plan.procs, plan.model.depth, plan.model.overlap, plan.per_host, rank,
                       &g) != STATUS_OK)
    return 0;
  model_parts_make(&plan.model, &g, plan.way, &parts);
  return parts.chain;
}

/* The launch of slabs is the model's for a sweep, and there is one only beside an interior; ν is
 * that of a message, of those alone that leave the host where others need none. */
static double ends_of(const struct halo_plan *halo)
{
  const struct model *m = &plan.model;
  const int by = plan.by.way[STUDY_OTHER_HOST];
  double messages = 0;
  if (model_at_once(m->paths.ways[by].name)) return m->depth * chain_of_rank();
  for (int n = 0; n < halo->n; n++)
    messages += by == plan.way || where_of(&halo->messages[n]) == STUDY_OTHER_HOST;
  return messages * m->value[model_way_column(by, WAY_NEIGHBOUR)];
}

static void times_set(struct rank *r)
{
  struct model_parts parts;
  const struct model *m = &plan.model;
  int way = r->geometry.neighbours > 0 ? plan.way : -1;
  model_parts_make(m, &r->geometry, way, &parts);
  r->interior = m->depth * parts.interior;
  r->boundary = m->depth * parts.boundary;
  r->after = m->depth * (parts.synchronisation + parts.reduction);
}

static status_t transport_open(struct rank *r)
{
  struct halo_reach reach[HALO_MESSAGES_MAX];
  struct halo_context context = {.comm = MPI_COMM_WORLD,
                                 .device = r->device,
                                 .layout = &r->layout,
                                 .plan = &r->halo,
                                 .compute = r->compute};
  return halo_transport_staged.setup(&context, reach, &r->exchange);
}

static status_t rank_open(struct rank *r)
{
  static const struct sim_exchange exchange = {latency_between, ends_of};
  int depth = plan.model.depth;
  RETURN_IF_FAILED(geometry_of_rank(plan.global, plan.procs, depth, plan.model.overlap, plan.per_host,
                                    r->rank, &r->geometry));
  decomp_init(&r->decomp, plan.global, plan.procs, r->rank);
  RETURN_IF_FAILED(layout_init(&r->layout, &r->decomp, depth, 0));
  halo_plan_init(&r->halo, &r->decomp, &r->layout, depth);
  times_set(r);
  RETURN_IF_FAILED(sim_device_open(&exchange, plan.buffer_bytes, &r->device));
  RETURN_IF_FAILED(gpu_queue_create(r->device, GPU_NORMAL, &r->compute));
  RETURN_IF_FAILED(gpu_event_create(r->device, &r->computed));
  RETURN_IF_FAILED(reduce_create(r->rank, r->ranks, &r->reduce));
  poll_background(reduce_progress, r->reduce, reduce_request(r->reduce));
  return r->halo.n > 0 ? transport_open(r) : STATUS_OK;
}

static void rank_close(struct rank *r)
{
  if (r->exchange) halo_transport_staged.teardown(r->exchange);
  reduce_destroy(r->reduce);
  gpu_event_destroy(r->computed);
  gpu_queue_destroy(r->compute);
  sim_device_close(r->device);
}

/* ---- sweeps, as himeno/solver/pass.c makes them ---- */

static status_t exchange(struct rank *r)
{
  struct gpu_mem field = {NULL, 0};
  struct gpu_event *arrived = NULL;
  int overlap = plan.model.overlap;
  sim_work(r->compute, r->boundary + (overlap ? 0 : r->interior));
  RETURN_IF_FAILED(gpu_record(r->computed, r->compute));
  RETURN_IF_FAILED(halo_transport_staged.start(r->exchange, field, r->computed));
  RETURN_IF_FAILED(halo_transport_staged.progress(r->exchange));
  if (overlap) sim_work(r->compute, r->interior);
  RETURN_IF_FAILED(halo_transport_staged.finish(r->exchange, &arrived));
  return arrived ? gpu_wait(r->compute, arrived) : STATUS_OK;
}

static status_t pass(struct rank *r)
{
  if (r->exchange)
    RETURN_IF_FAILED(exchange(r));
  else
    sim_work(r->compute, r->interior);
  sim_work(r->compute, r->after);
  if (r->ranks == 1) return STATUS_OK;
  RETURN_IF_FAILED(reduce_finish(r->reduce));
  return reduce_begin(r->reduce, 1);
}

static status_t block(struct rank *r, int passes)
{
  for (int p = 0; p < passes; p++) RETURN_IF_FAILED(pass(r));
  if (r->ranks > 1) RETURN_IF_FAILED(reduce_finish(r->reduce));
  RETURN_IF_FAILED(gpu_sync(r->compute));
  if (r->ranks > 1 && reduce_sum(r->reduce) != r->ranks)
    return log_fail(STATUS_WRONG, "the sum over %d ranks came to %g", r->ranks, reduce_sum(r->reduce));
  return STATUS_OK;
}

static void phases_keep(const struct rank *r, double seconds, const struct halo_times *times)
{
  double sweeps = (double)plan.passes * plan.model.depth, depth = plan.model.depth;
  const double found[PHASES] = {r->interior / depth,
                                r->boundary / depth,
                                times->seconds[HALO_WAIT] / sweeps,
                                times->seconds[HALO_TRANSFER] / sweeps,
                                seconds / sweeps - (r->interior + r->boundary) / depth,
                                seconds / sweeps};
  for (int p = 0; p < PHASES; p++) plan.times[p][r->rank] = found[p] > 0 ? found[p] : 0;
}

static status_t timed(struct rank *r)
{
  struct halo_times times = {.exchanges = 0};
  RETURN_IF_FAILED(block(r, WARM_PASSES));
  if (r->exchange) RETURN_IF_FAILED(halo_transport_staged.times(r->exchange, &times));
  times = (struct halo_times){.exchanges = 0};
  MPI_Barrier(MPI_COMM_WORLD);
  poll_sent_reset(r->rank);
  double begin = MPI_Wtime();
  RETURN_IF_FAILED(block(r, plan.passes));
  if (r->exchange) RETURN_IF_FAILED(halo_transport_staged.times(r->exchange, &times));
  phases_keep(r, MPI_Wtime() - begin, &times);
  return STATUS_OK;
}

/* ---- the outcome ---- */

static json_t *sent_json(int ranks)
{
  double messages = 0, tokens = 0, bytes = 0, most = 0;
  for (int r = 0; r < ranks; r++) {
    const struct sim_sent *sent = poll_sent(r);
    messages += (double)sent->messages;
    tokens += (double)sent->tokens;
    bytes += sent->bytes;
    if (sent->bytes > most) most = sent->bytes;
  }
  return json_pack("{s:o, s:o, s:o, s:o}", "messages", report_json_real(messages / plan.passes), "tokens",
                   report_json_real(tokens / plan.passes), "bytes", report_json_real(bytes / plan.passes),
                   "bytes_most", report_json_real(most / plan.passes));
}

static json_t *phases_json(int ranks)
{
  json_t *phases = json_object();
  for (int p = 0; p < PHASES; p++) {
    struct stats_summary s = stats_summarise(plan.times[p], (size_t)ranks);
    json_object_set_new(phases, phase_names[p],
                        json_pack("{s:o, s:o, s:o}", "min", report_json_real(s.min), "median",
                                  report_json_real(s.median), "max", report_json_real(s.max)));
  }
  return phases;
}

static status_t outcome_write(int ranks)
{
  json_t *document = json_pack("{s:o, s:o}", "phases", phases_json(ranks), "exchange", sent_json(ranks));
  if (!document) return log_fail(STATUS_ENVIRONMENT, "out of memory for the outcome");
  status_t status = report_json_write(document, plan.result);
  json_decref(document);
  return status;
}

static status_t simulate(struct rank *r, const char *path)
{
  if (plan.users++ == 0) {
    RETURN_IF_FAILED(plan_read(path, r->ranks));
    RETURN_IF_FAILED(buffers_size());
  }
  RETURN_IF_FAILED(rank_open(r));
  RETURN_IF_FAILED(timed(r));
  MPI_Barrier(MPI_COMM_WORLD);
  return r->rank == 0 ? outcome_write(r->ranks) : STATUS_OK;
}

int main(int argc, char **argv)
{
  struct rank r = {.rank = 0};
  start_program("himeno-sim");
  start_signals();
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS || argc != 2) return STATUS_ENVIRONMENT;
  MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &r.ranks);
  status_t status = simulate(&r, argv[1]);
  if (status != STATUS_OK) MPI_Abort(MPI_COMM_WORLD, (int)status);
  rank_close(&r);
  MPI_Finalize();
  return 0;
}
