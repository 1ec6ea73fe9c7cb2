/* SPDX-License-Identifier: MIT */
/* All ranks of a simulated run, in one process. Solver, halo plan, routes and transports are
 * himeno-gpu's own; devices, kernels and messages take simulated time. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/solver/solver.h"
#include "tools/sim/device.h"
#include "tools/sim/engine.h"

/* Sweeps before the timed ones, until each rank runs as far ahead of its neighbours as it will. */
#define WARM_PASSES 2

/* From a core's write until another core of the host reads it. */
#define NEAR_SECONDS 2e-7

/* What a byte of a halo takes within a host: by MPI one copy by the sender's core, through memory
 * half of it out and half of it in again. */
static void memory_set(void)
{
  const struct study_transport *by = &sim.model.paths.transports[sim.via];
  const double *value = sim.model.fitted.value + model_transport_column(sim.via, 0);
  const double share = sim.shared ? 0.5 : 1;
  if (!by->known[STUDY_SAME_HOST] || model_at_once(by->name)) return;
  sim.own = share * value[TRANSPORT_BANDWIDTH] / by->bandwidth[STUDY_SAME_HOST];
  sim.host = share * value[TRANSPORT_HOST] / by->bandwidth[STUDY_SAME_HOST];
}

static void machine_set(const struct sim_setup *setup, const struct sim_point *point)
{
  sim = (struct sim_machine){.model = setup->model,
                             .point = *point,
                             .per_host = (int)setup->config.per_host,
                             .via = setup->via,
                             .passes = (int)setup->config.passes,
                             .gpus_are_hosts = !setup->config.platform,
                             .shared = setup->model.paths.transports[setup->via].handover == 1,
                             .near = NEAR_SECONDS};
  sim.by = model_route(&sim.model.paths, (point->ranks + sim.per_host - 1) / sim.per_host, sim.via);
  memory_set();
}

/* ---- a rank ---- */

static const struct himeno_kernel *sim_kernel(void)
{
  static struct himeno_kernel k = {.name = "fitted"};
  k.sweeps = sim.model.depth;
  k.class_ = k.sweeps > 1 ? HIMENO_TEMPORAL : HIMENO_CLASSIC;
  return &k;
}

static const struct halo_transport *sim_transport(void)
{
  return model_at_once(sim.model.paths.transports[sim.via].name) ? &halo_transport_p2p
                                                                 : &halo_transport_staged;
}

static void phases_keep(double seconds[SIM_PHASES], const double phases[HIMENO_PHASES])
{
  static const enum himeno_phase of[SIM_SWEEP] = {PHASE_INTERIOR, PHASE_BOUNDARY, PHASE_WAIT, PHASE_TRANSFER,
                                                  PHASE_EXPOSED};
  for (int p = 0; p < SIM_SWEEP; p++) seconds[p] = phases[of[p]];
  seconds[SIM_SWEEP] = phases[PHASE_INTERIOR] + phases[PHASE_BOUNDARY] + phases[PHASE_EXPOSED];
}

/* Each point of the grid was swept by one rank, and each rank's sum came to all. */
static status_t gosa_check(double gosa)
{
  const double points = himeno_points(sim.point.global);
  if (solver_gosa_agrees(gosa, points, 1e-9)) return STATUS_OK;
  return log_fail(STATUS_WRONG, "the sum over %d ranks is %.17g, must be %.17g", sim.point.ranks, gosa,
                  points);
}

static status_t rank_run(struct sim_rank *rank)
{
  const int warm = WARM_PASSES * sim.model.depth, sweeps = sim.passes * sim.model.depth;
  struct solver_config config = {.comm = MPI_COMM_WORLD,
                                 .device = rank->device,
                                 .kernel = sim_kernel(),
                                 .transport = sim_transport(),
                                 .max_sweeps = sweeps > warm ? sweeps : warm,
                                 .overlap = sim.model.overlap};
  struct solver *solver;
  struct solver_block block;
  sim.gosa_bytes = (size_t)config.max_sweeps * sizeof(double);
  memcpy(config.global, sim.point.global, sizeof config.global);
  memcpy(config.procs, sim.point.procs, sizeof config.procs);
  RETURN_IF_FAILED(solver_open(&config, &solver));
  RETURN_IF_FAILED(solver_block_run(solver, warm, 0, &block));
  rank->messages = rank->tokens = rank->bytes = 0;
  RETURN_IF_FAILED(solver_block_run(solver, sweeps, 0, &block));
  RETURN_IF_FAILED(gosa_check(block.gosa));
  phases_keep(rank->seconds, block.phases);
  solver_close(solver);
  return STATUS_OK;
}

static struct sim_outcome *outcome;

static void outcome_set(struct sim_outcome *o)
{
  double *seconds = sim_array((size_t)sim.point.ranks, sizeof *seconds);
  for (int p = 0; p < SIM_PHASES; p++) {
    for (int r = 0; r < sim.point.ranks; r++) seconds[r] = sim_rank(r)->seconds[p];
    o->phases[p] = stats_summarise(seconds, (size_t)sim.point.ranks);
  }
  for (int r = 0; r < sim.point.ranks; r++) {
    const struct sim_rank *sent = sim_rank(r);
    o->messages += sent->messages / sim.passes;
    o->tokens += sent->tokens / sim.passes;
    o->bytes += sent->bytes / sim.passes;
    if (sent->bytes / sim.passes > o->bytes_most) o->bytes_most = sent->bytes / sim.passes;
  }
}

static status_t sim_rank_run(struct sim_rank *rank)
{
  RETURN_IF_FAILED(sim_device_open(&rank->device));
  RETURN_IF_FAILED(watch_barrier(MPI_COMM_WORLD, "the start"));
  RETURN_IF_FAILED(rank_run(rank));
  return watch_barrier(MPI_COMM_WORLD, "the end");
}

/* The first rank ends the process, so that SimGrid need not take its actors apart. */
static void rank_main(int argc, char **argv)
{
  struct sim_rank *rank = sim_self();
  (void)argc, (void)argv;
  const status_t status = sim_rank_run(rank);
  if (status != STATUS_OK) agree_abort(status);
  if (rank->number > 0) return;
  outcome_set(outcome);
  _Exit(STATUS_OK);
}

status_t sim_ranks_run(const struct sim_setup *setup, const struct sim_point *point, const char *platform,
                       struct sim_outcome *result)
{
  outcome = result;
  machine_set(setup, point);
  return engine_run(platform, rank_main);
}
