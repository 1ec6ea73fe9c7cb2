/* SPDX-License-Identifier: MIT */
/* himeno-sim-ranks: all ranks of a simulated run, in one process, started by smpirun. Solver, halo
 * plan, routes and transports are himeno-gpu's own; devices, kernels and messages take simulated
 * time. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "base/log.h"
#include "base/start.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/solver/solver.h"
#include "tools/predict/geometry.h"
#include "tools/predict/model.h"
#include "tools/sim/device.h"
#include "tools/sim/engine.h"
#include "tools/sim/sim.h"
#include "tools/sim/transports.h"

/* Sweeps before the timed ones, until each rank runs as far ahead of its neighbours as it will. */
#define WARM_PASSES 2

/* What a core writes until another core of the host reads it. */
#define NEAR_SECONDS 2e-7

enum phase { INTERIOR, BOUNDARY, WAIT, TRANSFER, EXPOSED, SECONDS, PHASES };

static const char *const phase_names[PHASES] = {SIM_PHASE_NAMES};

static struct {
  int users;
  char result[512];
  double *times[PHASES]; /* by rank, seconds a sweep */
} plan;

/* ---- the plan ---- */

/* What a byte of a halo takes within a host: by MPI one copy by the sender's core, through memory
 * half of it out and half of it in again. */
static void memory_set(void)
{
  const struct study_transport *transport = &sim.model.paths.transports[sim.via];
  const double *value = sim.model.value + model_transport_column(sim.via, 0);
  const double share = sim.shared ? 0.5 : 1;
  if (!transport->known[STUDY_SAME_HOST] || model_at_once(transport->name)) return;
  sim.own = share * value[TRANSPORT_BANDWIDTH] / transport->bandwidth[STUDY_SAME_HOST];
  sim.host = share * value[TRANSPORT_HOST] / transport->bandwidth[STUDY_SAME_HOST];
}

static status_t plan_fill(const json_t *document)
{
  const char *model = NULL, *transport = NULL, *result = NULL;
  struct study_between between;
  json_int_t g[3];
  int platform;
  if (json_unpack((json_t *)document, "{s:s, s:s, s:s, s:[I,I,I], s:[i,i,i], s:[F,F], s:i, s:i, s:b}",
                  "model", &model, "transport", &transport, "result", &result, "global", &g[0], &g[1], &g[2],
                  "procs", &sim.procs[0], &sim.procs[1], &sim.procs[2], "between", &between.latency,
                  &between.bandwidth, "per_host", &sim.per_host, "passes", &sim.passes, "platform",
                  &platform) != 0)
    return log_fail(STATUS_USAGE, "the plan is not as himeno-sim writes it");
  for (int d = 0; d < 3; d++) sim.global[d] = g[d];
  snprintf(plan.result, sizeof plan.result, "%s", result);
  RETURN_IF_FAILED(sim_model_read(model, &between, platform, &sim.model));
  sim.via = model_transport_find(&sim.model, transport);
  sim.ranks = sim.procs[0] * sim.procs[1] * sim.procs[2];
  sim.by = model_route(&sim.model, (sim.ranks + sim.per_host - 1) / sim.per_host, sim.via);
  sim.gpus_are_hosts = !platform;
  sim.shared = sim.model.paths.transports[sim.via].handover == 1;
  sim.near = NEAR_SECONDS;
  memory_set();
  return STATUS_OK;
}

static status_t plan_read(const char *path)
{
  json_t *document;
  RETURN_IF_FAILED(document_read(path, &document));
  const status_t status = plan_fill(document);
  json_decref(document);
  for (int p = 0; p < PHASES && status == STATUS_OK; p++)
    plan.times[p] = sim_array((size_t)sim.ranks, sizeof(double));
  return status;
}

/* ---- a rank ---- */

static const struct himeno_kernel *sim_kernel(void)
{
  static struct himeno_kernel k = {.name = "fitted"};
  k.sweeps = sim.model.depth;
  k.class_ = k.sweeps > 1 ? HIMENO_TEMPORAL : HIMENO_CLASSIC;
  return &k;
}

static const struct halo_transport *transport(void)
{
  return model_at_once(sim.model.paths.transports[sim.via].name) ? &halo_transport_p2p
                                                                 : &halo_transport_staged;
}

static void phases_keep(int rank, const struct solver_block *block)
{
  static const enum himeno_phase of[] = {PHASE_INTERIOR, PHASE_BOUNDARY, PHASE_WAIT, PHASE_TRANSFER,
                                         PHASE_EXPOSED};
  double *seconds = &plan.times[SECONDS][rank];
  for (int p = 0; p < SECONDS; p++) plan.times[p][rank] = block->phases[of[p]];
  *seconds = block->phases[PHASE_INTERIOR] + block->phases[PHASE_BOUNDARY] + block->phases[PHASE_EXPOSED];
}

/* Each point of the grid was swept by one rank, and each rank's sum came to all. */
static status_t gosa_check(double gosa)
{
  const double points = himeno_points(sim.global);
  if (solver_gosa_agrees(gosa, points, 1e-9)) return STATUS_OK;
  return log_fail(STATUS_WRONG, "the sum over %d ranks came to %.17g and must be %.17g", sim.ranks, gosa,
                  points);
}

static status_t rank_run(int rank, struct gpu_device *device)
{
  const int warm = WARM_PASSES * sim.model.depth, sweeps = sim.passes * sim.model.depth;
  struct solver_config config = {.comm = MPI_COMM_WORLD,
                                 .device = device,
                                 .kernel = sim_kernel(),
                                 .transport = transport(),
                                 .max_sweeps = sweeps > warm ? sweeps : warm,
                                 .overlap = sim.model.overlap};
  struct solver *solver;
  struct solver_block block;
  sim.gosa_bytes = (size_t)config.max_sweeps * sizeof(double);
  memcpy(config.global, sim.global, sizeof config.global);
  memcpy(config.procs, sim.procs, sizeof config.procs);
  RETURN_IF_FAILED(solver_open(&config, &solver));
  RETURN_IF_FAILED(solver_block_run(solver, warm, 0, &block));
  *sim_sent(rank) = (struct sim_sent){0};
  RETURN_IF_FAILED(solver_block_run(solver, sweeps, 0, &block));
  RETURN_IF_FAILED(gosa_check(block.gosa));
  phases_keep(rank, &block);
  solver_close(solver);
  return STATUS_OK;
}

/* ---- the outcome ---- */

static void sim_sent_document(struct doc *d, int ranks)
{
  double messages = 0, tokens = 0, bytes = 0, most = 0;
  for (int r = 0; r < ranks; r++) {
    const struct sim_sent *sent = sim_sent(r);
    messages += (double)sent->messages;
    tokens += (double)sent->tokens;
    bytes += sent->bytes;
    if (sent->bytes > most) most = sent->bytes;
  }
  if (!doc_object(d, "exchange", 0, "", 1)) return;
  doc_real(d, "messages", 0, "", "", messages / sim.passes);
  doc_real(d, "tokens", 0, "", "", tokens / sim.passes);
  doc_real(d, "bytes", 0, "B", "", bytes / sim.passes);
  doc_real(d, "bytes_most", 0, "B", "", most / sim.passes);
  doc_end(d);
}

static status_t outcome_write(int ranks)
{
  struct doc d;
  doc_open(&d, 0);
  if (doc_object(&d, "phases", 0, "", 1)) {
    for (int p = 0; p < PHASES; p++)
      doc_spread(&d, phase_names[p], stats_summarise(plan.times[p], (size_t)ranks));
    doc_end(&d);
  }
  sim_sent_document(&d, ranks);
  return doc_write(&d, plan.result);
}

static status_t sim_rank_run(int rank, const char *path)
{
  struct gpu_device *device;
  if (plan.users++ == 0) RETURN_IF_FAILED(plan_read(path));
  RETURN_IF_FAILED(engine_enter(rank));
  RETURN_IF_FAILED(sim_device_open(&device));
  engine_device(device);
  RETURN_IF_FAILED(watch_barrier(MPI_COMM_WORLD, "the start"));
  RETURN_IF_FAILED(rank_run(rank, device));
  RETURN_IF_FAILED(watch_barrier(MPI_COMM_WORLD, "the end"));
  engine_device(NULL);
  sim_device_close(device);
  return rank == 0 ? outcome_write(sim.ranks) : STATUS_OK;
}

int main(int argc, char **argv)
{
  int rank;
  start_program("himeno-sim");
  start_signals();
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS || argc != 2) return STATUS_ENVIRONMENT;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  status_t status = sim_rank_run(rank, argv[1]);
  if (status != STATUS_OK) agree_abort(status);
  MPI_Finalize();
  return 0;
}
