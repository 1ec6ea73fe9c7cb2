/* SPDX-License-Identifier: MIT */
/* Runs blocks of sweeps: times them, collects gosa and checksums over all ranks, and measures the
 * ceiling (bandwidth of the same traffic without the stencil). */
#include <string.h>

#include "base/stats.h"
#include "comm/ranks/watch.h"
#include "himeno/solver/state.h"
#include "suite/progress.h"

/* Returns the number of sweeps in the next pass. Without neighbours, several single sweeps run in
 * one launch; their number is odd, so that the result is in the same buffer as after one sweep. */
static int pass_depth(const struct solver_grid *grid, const struct halo_route *route, int left)
{
  const struct himeno_kernel *kernel = grid->kernel;
  if (kernel->resident) return left;
  if (route || kernel->sweeps > 1 || !grid->set->sweeps_per_launch) return kernel->sweeps;
  const int most = grid->set->sweeps_per_launch(grid->exec), n = left < most ? left : most;
  return n % 2 ? n : n - 1;
}

/* Consecutive sweeps of a block without a pause: [first, end). */
struct segment {
  int first, end;
};

static status_t block_passes_run(struct solver_passes *p, struct solver_grid *grid, struct segment g)
{
  struct himeno_sweep sweep = {.slot = g.first, .ends_equal = 1, .link = p->halo.link};
  for (; sweep.slot < g.end; sweep.slot += sweep.sweeps) {
    const int left = g.end - sweep.slot, depth = pass_depth(grid, p->halo.route, left), fits = depth <= left;
    sweep.sweeps = fits ? depth : 1;
    sweep.source = grid->current;
    RETURN_IF_FAILED(p->pass(p, grid, fits ? grid->exec : grid->plain, &sweep));
    grid->current = 1 - grid->current;
  }
  return p->halo.unattended ? solver_passes_end(p) : STATUS_OK;
}

/* Captures a whole block as a graph if the host need not act during it. A graph with the same
 * length and start buffer is reused. Resident kernels need none: they are one launch already. */
static status_t block_graph_prepare(struct solver_graph *graph, struct solver_passes *p,
                                    struct solver_grid *grid, int sweeps)
{
  const struct gpu_backend *backend = grid->compute->device->backend;
  if (!p->halo.unattended || !gpu_has(backend, graphs) || grid->kernel->resident) return STATUS_OK;
  if (graph->graph && graph->sweeps == sweeps && graph->first == grid->current) return STATUS_OK;
  gpu_graph_destroy(graph->graph);
  *graph = (struct solver_graph){.sweeps = sweeps, .first = grid->current};
  RETURN_IF_FAILED(gpu_graph_begin(grid->compute));
  RETURN_IF_FAILED(block_passes_run(p, grid, (struct segment){0, sweeps}));
  RETURN_IF_FAILED(gpu_graph_end(grid->compute, &graph->graph));
  graph->last = grid->current;
  grid->current = graph->first;
  return STATUS_OK;
}

/* Waits for the queue. With neighbours the route does, as a neighbour might not answer. */
static status_t block_queue_wait(struct halo_route *route, struct gpu_queue *queue)
{
  return route ? halo_route_wait(route, queue) : gpu_sync(queue);
}

static status_t barrier(MPI_Comm comm, struct halo_route *route, struct gpu_queue *queue)
{
  watch_sweep(0);
  RETURN_IF_FAILED(block_queue_wait(route, queue));
  return watch_barrier(comm, "a barrier");
}

/* Without neighbours, gosa and times are read back once, after all sweeps. */
static status_t local_finish(struct solver_passes *p, const struct solver_grid *grid,
                             const struct solver_outcome *o, struct segment g)
{
  size_t bytes = (size_t)(g.end - g.first) * sizeof(double);
  RETURN_IF_FAILED(gpu_elapsed(o->begin, o->end, &p->phases[PHASE_INTERIOR]));
  RETURN_IF_FAILED(gpu_read(grid->compute, p->gosa.host + g.first, grid->fields.gosa,
                            (size_t)g.first * sizeof(double), bytes));
  memcpy(p->gosa.sum + g.first, p->gosa.host + g.first, bytes);
  return STATUS_OK;
}

/* Sets the compute time if passes have no timestamps: the sweeps' time minus exchange delays. */
static status_t compute_time(struct solver_passes *p, const struct solver_outcome *o)
{
  double block, held = 0;
  RETURN_IF_FAILED(gpu_elapsed(o->begin, o->end, &block));
  for (int n = PHASE_PACK; n <= PHASE_UNPACK && !p->overlap; n++) held += p->phases[n];
  held += p->phases[PHASE_BOUNDARY];
  p->phases[PHASE_INTERIOR] = block > held ? block - held : 0;
  return STATUS_OK;
}

static status_t exchanged_finish(struct solver_passes *p, const struct solver_outcome *o)
{
  static const enum himeno_phase phase_of[HALO_PHASES] = {PHASE_PACK,     PHASE_D2H, PHASE_WAIT,
                                                          PHASE_TRANSFER, PHASE_H2D, PHASE_UNPACK};
  struct halo_times times = {.exchanges = 0};
  RETURN_IF_FAILED(solver_pass_times(p));
  RETURN_IF_FAILED(halo_route_times(p->halo.route, &times));
  for (int n = 0; n < HALO_PHASES; n++) p->phases[phase_of[n]] = times.seconds[n];
  p->phases[PHASE_BOUNDARY] += times.edge_seconds;
  return p->halo.unattended ? compute_time(p, o) : STATUS_OK;
}

int solver_check_sweeps(const struct himeno_kernel *kernel)
{
  return kernel->sweeps > SOLVER_CHECK_SWEEPS ? kernel->sweeps
                                              : SOLVER_CHECK_SWEEPS / kernel->sweeps * kernel->sweeps;
}

/* Runs all segments of a block of \a sweeps, each timed from a barrier until its device and halos
 * are done. */
static status_t segments_run(struct solver *s, int cut, int sweeps)
{
  struct solver_grid *grid = &s->grid;
  struct solver_passes *p = &s->passes;
  struct solver_outcome *o = &s->outcome;
  struct halo_route *route = p->halo.route;
  const int every = cut ? s->config.check_sweeps : 0;
  memset(o->phases, 0, sizeof o->phases);
  o->n_parts = o->n_checks = 0;
  for (struct segment g = {0, 0}; g.end < sweeps;) {
    const int next = every ? g.end / every * every + every : sweeps; /* the next check point */
    int stop = sweeps;
    if (s->config.faults) RETURN_IF_FAILED(s->config.faults(grid, g.end, sweeps, &stop));
    g = (struct segment){g.end, next < stop ? next : stop};
    const int whole = g.end - g.first == sweeps;
    if (whole) RETURN_IF_FAILED(block_graph_prepare(&s->graph, p, grid, sweeps));

    memset(p->phases, 0, sizeof p->phases);
    RETURN_IF_FAILED(barrier(s->config.comm, route, grid->compute));
    const double begin = stats_now();
    RETURN_IF_FAILED(gpu_record(o->begin, grid->compute));
    const int recorded = whole && s->graph.graph;
    RETURN_IF_FAILED(recorded ? gpu_graph_launch(s->graph.graph, grid->compute)
                              : block_passes_run(p, grid, g));
    if (recorded) grid->current = s->graph.last;
    RETURN_IF_FAILED(gpu_record(o->end, grid->compute));
    if (route) RETURN_IF_FAILED(gosa_drain(p, grid, g.first, g.end));
    RETURN_IF_FAILED(block_queue_wait(route, grid->compute));
    o->seconds[o->n_parts++] = stats_now() - begin;

    RETURN_IF_FAILED(route ? exchanged_finish(p, o) : local_finish(p, grid, o, g));
    for (int n = 0; n < HIMENO_PHASES; n++) o->phases[n] += p->phases[n];
    if (g.end == sweeps || (every && g.end % every == 0)) {
      /* not timed; checks_sum sums it over the ranks */
      struct solver_check *check = &o->checks[o->n_checks++];
      *check = (struct solver_check){.sweeps = g.end};
      RETURN_IF_FAILED(solver_array_checksum(grid, SOLVER_NEWEST, &check->checksum));
    }
    progress_tick();
  }
  return STATUS_OK;
}

/* Sums the checks over all ranks. */
static status_t checks_sum(MPI_Comm comm, struct solver_outcome *o, const double *gosa)
{
  uint64_t *mine = o->sums, *all = o->sums + o->n_checks;
  for (int c = 0; c < o->n_checks; c++) mine[c] = o->checks[c].checksum;
  RETURN_IF_FAILED(watch_allreduce(comm, mine, all, o->n_checks, MPI_UINT64_T, MPI_SUM, "the checksum"));
  for (int c = 0; c < o->n_checks; c++) {
    o->checks[c].checksum = all[c];
    o->checks[c].gosa = gosa[o->checks[c].sweeps - 1];
  }
  return STATUS_OK;
}

/* A block's time is the sum over its segments of the slowest rank's time; its phases are this
 * rank's mean seconds per sweep. */
static status_t times_finish(struct solver *s, struct solver_block *b)
{
  struct solver_outcome *o = &s->outcome;
  const struct solver_passes *passes = &s->passes;
  double *mine = o->seconds, *all = o->seconds + o->n_parts, sum = 0;
  for (int p = 0; p < o->n_parts; p++) sum += mine[p];
  RETURN_IF_FAILED(
      watch_allreduce(s->config.comm, mine, all, o->n_parts, MPI_DOUBLE, MPI_MAX, "the slowest time"));
  for (int p = 0; p < o->n_parts; p++) b->seconds += all[p];
  const double exposed = sum - o->phases[PHASE_INTERIOR] - o->phases[PHASE_BOUNDARY];
  o->phases[PHASE_EXPOSED] = exposed > 0 ? exposed : 0;
  for (int p = 0; p < HIMENO_PHASES; p++) b->phases[p] = o->phases[p] / b->sweeps;
  b->waited = passes->halo.unattended && passes->overlap ? b->phases[PHASE_WAIT] : 0;
  return STATUS_OK;
}

status_t solver_block_continue(struct solver *s, int sweeps, int cut, struct solver_block *block)
{
  const struct solver_gosa *gosa = &s->passes.gosa;
  const struct gpu_mem *sums = &s->grid.fields.gosa;
  struct solver_block b = {.sweeps = sweeps, .checks = s->outcome.checks, .own_gosa = gosa->host};
  RETURN_IF_FAILED(gpu_clear(s->grid.compute, *sums, 0, sums->bytes));
  RETURN_IF_FAILED(segments_run(s, cut, sweeps));
  s->grid.swept += sweeps;
  RETURN_IF_FAILED(times_finish(s, &b));
  RETURN_IF_FAILED(checks_sum(s->config.comm, &s->outcome, gosa->sum));
  b.n_checks = s->outcome.n_checks;
  b.gosa = b.checks[b.n_checks - 1].gosa;
  b.checksum = b.checks[b.n_checks - 1].checksum;
  *block = b;
  return STATUS_OK;
}

status_t solver_block_run(struct solver *s, int sweeps, int cut, struct solver_block *block)
{
  struct solver_grid *grid = &s->grid;
  RETURN_IF_FAILED(grid->set->fill(grid->exec, grid->compute, HIMENO_P, grid->data));
  grid->current = 0;
  return solver_block_continue(s, sweeps, cut, block);
}

static status_t ceiling_one(const struct solver_grid *grid, const struct solver_outcome *o, int passes,
                            double *seconds)
{
  RETURN_IF_FAILED(gpu_record(o->begin, grid->compute));
  for (int p = 0; p < passes; p++) RETURN_IF_FAILED(grid->set->ceiling(grid->exec, grid->compute));
  RETURN_IF_FAILED(gpu_record(o->end, grid->compute));
  RETURN_IF_FAILED(gpu_sync(grid->compute));
  return gpu_elapsed(o->begin, o->end, seconds);
}

/* Times one round per rank that shares a device. Sets \a most to the slowest rank's time in the
 * last round. */
static status_t ceiling_each(struct solver *s, int passes, double *seconds, double *most)
{
  const struct solver_config *config = &s->config;
  const struct solver_grid *grid = &s->grid;
  for (int round = 0; round == 0 || round < config->sharing_most; round++) {
    double took = 0;
    RETURN_IF_FAILED(barrier(config->comm, s->passes.halo.route, grid->compute));
    if (round == config->sharing_rank) {
      RETURN_IF_FAILED(ceiling_one(grid, &s->outcome, passes, &took));
      *seconds = took;
    }
    RETURN_IF_FAILED(watch_allreduce(config->comm, &took, most, 1, MPI_DOUBLE, MPI_MAX, "the slowest time"));
  }
  return STATUS_OK;
}

status_t solver_ceiling(struct solver *s, int passes, struct solver_rates *rates)
{
  enum { BYTES, RATE, SUMS };
  const struct solver_config *config = &s->config;
  const double bytes = (double)layout_floats(&s->grid.fields.layout) * HIMENO_BYTES_PER_POINT * passes;
  double seconds = 0, most = 0, sums[SUMS];
  RETURN_IF_FAILED(ceiling_each(s, passes, &seconds, &most));
  const double mine = seconds > 0 ? bytes / seconds : 0;
  const double parts[SUMS] = {bytes, config->sharing > 1 ? mine / config->sharing : mine};
  RETURN_IF_FAILED(
      watch_allreduce(config->comm, parts, sums, SUMS, MPI_DOUBLE, MPI_SUM, "the ceiling's bytes"));
  rates->all = config->sharing_most > 1 ? sums[RATE] : most > 0 ? sums[BYTES] / most : 0;
  rates->mine = mine;
  return STATUS_OK;
}
