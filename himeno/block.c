/* SPDX-License-Identifier: MIT */
/* Blocks of sweeps, timed and summed up, and the ceiling beside them. */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/agree.h"
#include "comm/watch.h"
#include "himeno/clock.h"
#include "himeno/flip.h"
#include "himeno/solver_state.h"

static status_t restore(struct solver *s)
{
  RETURN_IF_FAILED(s->set->fill(s->exec, s->compute, HIMENO_P, s->config.data));
  s->current = 0;
  return STATUS_OK;
}

/* Sweeps of the next pass: of single ones without neighbours an odd number, after which the newest p is where it is after one. */
static int pass_depth(const struct solver *s, int left)
{
  const struct himeno_kernel *kernel = s->config.kernel;
  if (kernel->resident) return left;
  if (s->route || kernel->sweeps > 1 || !s->set->at_once) return kernel->sweeps;
  const int most = s->set->at_once(s->exec), n = left < most ? left : most;
  return n % 2 ? n : n - 1;
}

static status_t sweeps_put(struct solver *s, int sweeps)
{
  int slot = 0;
  for (int deep; slot < sweeps && (deep = pass_depth(s, sweeps - slot)) <= sweeps - slot; slot += deep)
    RETURN_IF_FAILED(solver_pass(s, s->exec, deep, slot));
  for (; slot < sweeps; slot++) RETURN_IF_FAILED(solver_pass(s, s->plain, 1, slot));
  return s->unattended ? solver_passes_end(s) : STATUS_OK;
}

/* Records a block that needs no host, unless the last one was alike. */
static status_t graph_prepare(struct solver *s, int sweeps)
{
  const struct gpu_backend *backend = s->config.device->backend;
  struct block_graph *g = &s->graph;
  if (!s->unattended || !backend->graph_begin) return STATUS_OK;
  if (g->graph && g->sweeps == sweeps && g->first == s->current) return STATUS_OK;
  gpu_graph_destroy(g->graph);
  *g = (struct block_graph){.sweeps = sweeps, .first = s->current};
  RETURN_IF_FAILED(backend->graph_begin(s->compute));
  RETURN_IF_FAILED(sweeps_put(s, sweeps));
  RETURN_IF_FAILED(backend->graph_end(s->compute, &g->graph));
  g->last = s->current;
  s->current = g->first;
  return STATUS_OK;
}

static status_t sweeps_run(struct solver *s, int sweeps)
{
  if (!s->graph.graph) return sweeps_put(s, sweeps);
  RETURN_IF_FAILED(s->config.device->backend->graph_launch(s->graph.graph, s->compute));
  s->current = s->graph.last;
  return STATUS_OK;
}

static status_t slowest(struct solver *s, double mine, double *seconds)
{
  return watch_allreduce(s->config.comm, &mine, seconds, 1, MPI_DOUBLE, MPI_MAX, "the slowest time");
}

/* Other ranks may be held up, or hold up this one's device. */
static status_t queue_wait(struct solver *s)
{
  return s->route ? halo_route_wait(s->route, s->compute) : gpu_sync(s->compute);
}

static status_t barrier(struct solver *s)
{
  watch_sweep(s->config.comm, 0);
  RETURN_IF_FAILED(queue_wait(s));
  return watch_barrier(s->config.comm, "a barrier");
}

/* Without neighbours nothing is read back while the sweeps run: gosa and times come once, at the end. */
static status_t local_finish(struct solver *s, int sweeps)
{
  RETURN_IF_FAILED(gpu_elapsed(s->block_begin, s->block_end, &s->phases[PHASE_INTERIOR]));
  RETURN_IF_FAILED(
      gpu_copy_out(s->compute, s->host_gosa, s->fields.gosa, 0, (size_t)sweeps * sizeof(double)));
  RETURN_IF_FAILED(gpu_sync(s->compute));
  memcpy(s->sum_gosa, s->host_gosa, (size_t)sweeps * sizeof(double));
  return STATUS_OK;
}

/* Where passes leave no timestamps: the block's time, less what the exchange held up. */
static status_t compute_time(struct solver *s)
{
  double block, held = 0;
  RETURN_IF_FAILED(gpu_elapsed(s->block_begin, s->block_end, &block));
  for (int p = PHASE_PACK; p <= PHASE_UNPACK && !s->overlap; p++) held += s->phases[p];
  held += s->phases[PHASE_BOUNDARY];
  s->phases[PHASE_INTERIOR] = block > held ? block - held : 0;
  return STATUS_OK;
}

static status_t exchanged_finish(struct solver *s)
{
  static const enum himeno_phase phase_of[HALO_PHASES] = {PHASE_PACK,     PHASE_D2H, PHASE_WAIT,
                                                          PHASE_TRANSFER, PHASE_H2D, PHASE_UNPACK};
  struct halo_times times = {.exchanges = 0};
  RETURN_IF_FAILED(solver_pass_times(s));
  RETURN_IF_FAILED(halo_route_times(s->route, &times));
  for (int p = 0; p < HALO_PHASES; p++) s->phases[phase_of[p]] = times.seconds[p];
  s->phases[PHASE_BOUNDARY] += times.edge_seconds;
  return s->unattended ? compute_time(s) : STATUS_OK;
}

static status_t timed_sweeps(struct solver *s, int sweeps, double *mine)
{
  RETURN_IF_FAILED(graph_prepare(s, sweeps));
  RETURN_IF_FAILED(barrier(s));
  double begin = stats_now();
  RETURN_IF_FAILED(gpu_record(s->block_begin, s->compute));
  RETURN_IF_FAILED(sweeps_run(s, sweeps));
  RETURN_IF_FAILED(gpu_record(s->block_end, s->compute));
  if (s->route) RETURN_IF_FAILED(gosa_drain(s, sweeps));
  RETURN_IF_FAILED(queue_wait(s));
  *mine = stats_now() - begin;
  return STATUS_OK;
}

static status_t checksum(struct solver *s, uint64_t *sum)
{
  uint64_t mine;
  RETURN_IF_FAILED(solver_array_checksum(s, SOLVER_NEWEST, &mine));
  return watch_allreduce(s->config.comm, &mine, sum, 1, MPI_UINT64_T, MPI_SUM, "the checksum");
}

static void phases_fill(const struct solver *s, double seconds, int sweeps, struct solver_block *block)
{
  for (int p = 0; p < HIMENO_PHASES; p++) block->phases[p] = s->phases[p] / sweeps;
  double exposed = seconds - s->phases[PHASE_INTERIOR] - s->phases[PHASE_BOUNDARY];
  block->phases[PHASE_EXPOSED] = exposed > 0 ? exposed / sweeps : 0;
}

static int rank_of(const struct decomp *d)
{
  return (d->coord[0] * d->procs[1] + d->coord[1]) * d->procs[2] + d->coord[2];
}

static void simulate(struct solver *s, int sweeps, double *mine)
{
  struct clock_block block = {rank_of(&s->decomp), sweeps, s->blocks++, box_points(&s->decomp.owned),
                              &s->plan};
  clock_block(&block, s->phases, mine);
}

status_t solver_block_continue(struct solver *s, int sweeps, struct solver_block *block)
{
  struct solver_block b = {.sweeps = sweeps};
  double mine;
  if (sweeps < 1 || sweeps > s->config.max_sweeps)
    return log_fail(STATUS_USAGE, "a block of %d sweeps in a solver made for 1 to %d", sweeps,
                    s->config.max_sweeps);
  memset(s->phases, 0, sizeof s->phases);
  if (s->config.plant) RETURN_IF_FAILED(flip_plant(s, s->swept, s->swept + sweeps));
  s->swept += sweeps;
  RETURN_IF_FAILED(gpu_clear(s->compute, s->fields.gosa, 0, s->fields.gosa.bytes));
  RETURN_IF_FAILED(timed_sweeps(s, sweeps, &mine));
  RETURN_IF_FAILED(s->route ? exchanged_finish(s) : local_finish(s, sweeps));
  if (clock_simulates(s->set)) simulate(s, sweeps, &mine);
  RETURN_IF_FAILED(slowest(s, mine, &b.seconds));
  RETURN_IF_FAILED(checksum(s, &b.checksum));
  b.gosa = s->sum_gosa[sweeps - 1];
  phases_fill(s, mine, sweeps, &b);
  *block = b;
  return STATUS_OK;
}

status_t solver_block_run(struct solver *s, int sweeps, struct solver_block *block)
{
  RETURN_IF_FAILED(restore(s));
  return solver_block_continue(s, sweeps, block);
}

status_t solver_ceiling(struct solver *s, int passes, double *bytes_per_second)
{
  double mine, seconds, bytes = (double)layout_floats(&s->layout) * HIMENO_BYTES_PER_POINT * passes, all;
  RETURN_IF_FAILED(barrier(s));
  RETURN_IF_FAILED(gpu_record(s->block_begin, s->compute));
  for (int p = 0; p < passes; p++) RETURN_IF_FAILED(s->set->ceiling(s->exec, s->compute));
  RETURN_IF_FAILED(gpu_record(s->block_end, s->compute));
  RETURN_IF_FAILED(gpu_sync(s->compute));
  RETURN_IF_FAILED(gpu_elapsed(s->block_begin, s->block_end, &mine));
  if (clock_simulates(s->set)) mine = clock_ceiling(rank_of(&s->decomp), bytes);
  RETURN_IF_FAILED(slowest(s, mine, &seconds));
  RETURN_IF_FAILED(
      watch_allreduce(s->config.comm, &bytes, &all, 1, MPI_DOUBLE, MPI_SUM, "the ceiling's bytes"));
  *bytes_per_second = seconds > 0 ? all / seconds : 0;
  return STATUS_OK;
}
