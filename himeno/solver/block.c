/* SPDX-License-Identifier: MIT */
/* Blocks of sweeps, timed and summed up, and the ceiling beside them. */
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/solver/clock.h"
#include "himeno/solver/state.h"
#include "suite/progress.h"

static status_t restore(struct solver *s)
{
  RETURN_IF_FAILED(s->set->fill(s->exec, s->compute, HIMENO_P, s->config.data));
  s->current = 0;
  return STATUS_OK;
}

/* Sweeps of the next pass: of single ones without neighbours an odd number, after which the newest
 * p is where it is after one. */
static int pass_depth(const struct solver *s, int left)
{
  const struct himeno_kernel *kernel = s->config.kernel;
  if (kernel->resident) return left;
  if (s->route || kernel->sweeps > 1 || !s->set->at_once) return kernel->sweeps;
  const int most = s->set->at_once(s->exec), n = left < most ? left : most;
  return n % 2 ? n : n - 1;
}

/* Sweeps of a block without a stop: [first, end). */
struct segment {
  int first, end;
};

static status_t block_passes_run(struct solver *s, struct segment g)
{
  int slot = g.first;
  for (int depth; slot < g.end && (depth = pass_depth(s, g.end - slot)) <= g.end - slot; slot += depth) {
    RETURN_IF_FAILED(s->pass(s, s->exec, depth, slot));
    s->current = 1 - s->current;
  }
  for (; slot < g.end; slot++) {
    RETURN_IF_FAILED(s->pass(s, s->plain, 1, slot));
    s->current = 1 - s->current;
  }
  return s->unattended ? solver_passes_end(s) : STATUS_OK;
}

/* Records a block that needs no host, unless the last one was alike or it is one launch anyway. A
 * part of a block has slots of its own: it is not recorded. */
static status_t block_graph_prepare(struct solver *s, int sweeps)
{
  struct block_graph *g = &s->graph;
  if (!s->unattended || !gpu_has(s->config.device->backend, graphs) || s->config.kernel->resident)
    return STATUS_OK;
  if (g->graph && g->sweeps == sweeps && g->first == s->current) return STATUS_OK;
  gpu_graph_destroy(g->graph);
  *g = (struct block_graph){.sweeps = sweeps, .first = s->current};
  RETURN_IF_FAILED(gpu_graph_begin(s->compute));
  RETURN_IF_FAILED(block_passes_run(s, (struct segment){0, sweeps}));
  RETURN_IF_FAILED(gpu_graph_end(s->compute, &g->graph));
  g->last = s->current;
  s->current = g->first;
  return STATUS_OK;
}

static status_t graph_run(struct solver *s)
{
  RETURN_IF_FAILED(gpu_graph_launch(s->graph.graph, s->compute));
  s->current = s->graph.last;
  return STATUS_OK;
}

/* The slowest rank's of each of \a n times. */
static status_t block_slowest(struct solver *s, const double *mine, double *seconds, int n)
{
  return watch_allreduce(s->config.comm, mine, seconds, n, MPI_DOUBLE, MPI_MAX, "the slowest time");
}

/* Other ranks may be held up, or hold up this one's device. */
static status_t block_queue_wait(struct solver *s)
{
  return s->route ? halo_route_wait(s->route, s->compute) : gpu_sync(s->compute);
}

static status_t barrier(struct solver *s)
{
  watch_sweep(0);
  RETURN_IF_FAILED(block_queue_wait(s));
  return watch_barrier(s->config.comm, "a barrier");
}

/* Without neighbours nothing is read back while the sweeps run: gosa and times come once, at the
 * end. */
static status_t local_finish(struct solver *s, struct segment g)
{
  size_t bytes = (size_t)(g.end - g.first) * sizeof(double);
  RETURN_IF_FAILED(gpu_elapsed(s->block_begin, s->block_end, &s->part_sums[PHASE_INTERIOR]));
  RETURN_IF_FAILED(gpu_copy_out(s->compute, s->host_gosa + g.first, s->fields.gosa,
                                (size_t)g.first * sizeof(double), bytes));
  RETURN_IF_FAILED(gpu_sync(s->compute));
  memcpy(s->sum_gosa + g.first, s->host_gosa + g.first, bytes);
  return STATUS_OK;
}

/* Where passes leave no timestamps: the time of the sweeps, less what the exchange held up. */
static status_t compute_time(struct solver *s)
{
  double block, held = 0;
  RETURN_IF_FAILED(gpu_elapsed(s->block_begin, s->block_end, &block));
  for (int p = PHASE_PACK; p <= PHASE_UNPACK && !s->overlap; p++) held += s->part_sums[p];
  held += s->part_sums[PHASE_BOUNDARY];
  s->part_sums[PHASE_INTERIOR] = block > held ? block - held : 0;
  return STATUS_OK;
}

static status_t exchanged_finish(struct solver *s)
{
  static const enum himeno_phase phase_of[HALO_PHASES] = {PHASE_PACK,     PHASE_D2H, PHASE_WAIT,
                                                          PHASE_TRANSFER, PHASE_H2D, PHASE_UNPACK};
  struct halo_times times = {.exchanges = 0};
  RETURN_IF_FAILED(solver_pass_times(s));
  RETURN_IF_FAILED(halo_route_times(s->route, &times));
  for (int p = 0; p < HALO_PHASES; p++) s->part_sums[phase_of[p]] = times.seconds[p];
  s->part_sums[PHASE_BOUNDARY] += times.edge_seconds;
  return s->unattended ? compute_time(s) : STATUS_OK;
}

static void block_simulate(struct solver *s, int sweeps, double *mine)
{
  struct clock_block block = {decomp_rank(&s->decomp), sweeps, s->blocks++, box_points(&s->decomp.owned),
                              &s->plan};
  s->config.clock->block(&block, s->block_sums, mine);
}

/* ---- the parts of a block ---- */

int solver_check_sweeps(const struct himeno_kernel *kernel)
{
  return kernel->sweeps > SOLVER_CHECK_SWEEPS ? kernel->sweeps
                                              : SOLVER_CHECK_SWEEPS / kernel->sweeps * kernel->sweeps;
}

/* The part that begins at \a first ends at the next check point, or at \a stop. */
static struct segment segment_next(int first, int sweeps, int every, int stop)
{
  const int next = every ? first / every * every + every : sweeps;
  return (struct segment){first, next < stop ? next : stop};
}

/* p is summed at check points and at the end, behind the timed part; ranks add theirs later. */
static status_t check_point(struct solver *s, struct segment g, int sweeps)
{
  if (g.end < sweeps && g.end % s->config.check_sweeps) return STATUS_OK;
  s->checks[s->n_checks] = (struct solver_check){.sweeps = g.end};
  return solver_array_checksum(s, SOLVER_NEWEST, &s->checks[s->n_checks++].checksum);
}

/* All \a n parts of a block of \a sweeps, each timed from a barrier to the moment in which its
 * device and halos are done. */
static status_t segments_run(struct solver *s, int cut, int sweeps, int *n)
{
  const int every = cut ? s->config.check_sweeps : 0;
  memset(s->block_sums, 0, sizeof s->block_sums);
  *n = s->n_checks = 0;
  for (struct segment g = {0, 0}; g.end < sweeps;) {
    int stop = sweeps;
    if (s->config.faults) RETURN_IF_FAILED(s->config.faults(s, g.end, sweeps, &stop));
    g = segment_next(g.end, sweeps, every, stop);
    const int whole = g.end - g.first == sweeps;
    if (whole) RETURN_IF_FAILED(block_graph_prepare(s, sweeps));

    memset(s->part_sums, 0, sizeof s->part_sums);
    RETURN_IF_FAILED(barrier(s));
    const double begin = stats_now();
    RETURN_IF_FAILED(gpu_record(s->block_begin, s->compute));
    RETURN_IF_FAILED(whole && s->graph.graph ? graph_run(s) : block_passes_run(s, g));
    RETURN_IF_FAILED(gpu_record(s->block_end, s->compute));
    if (s->route) RETURN_IF_FAILED(gosa_drain(s, g.first, g.end));
    RETURN_IF_FAILED(block_queue_wait(s));
    s->seconds[(*n)++] = stats_now() - begin;

    RETURN_IF_FAILED(s->route ? exchanged_finish(s) : local_finish(s, g));
    for (int p = 0; p < HIMENO_PHASES; p++) s->block_sums[p] += s->part_sums[p];
    if (every || g.end == sweeps) RETURN_IF_FAILED(check_point(s, g, sweeps));
    progress_tick();
  }
  return STATUS_OK;
}

/* The check points' sums over all ranks. */
static status_t checks_sum(struct solver *s)
{
  uint64_t *mine = s->sums, *all = s->sums + s->n_checks;
  for (int c = 0; c < s->n_checks; c++) mine[c] = s->checks[c].checksum;
  RETURN_IF_FAILED(
      watch_allreduce(s->config.comm, mine, all, s->n_checks, MPI_UINT64_T, MPI_SUM, "the checksum"));
  for (int c = 0; c < s->n_checks; c++) {
    s->checks[c].checksum = all[c];
    s->checks[c].gosa = s->sum_gosa[s->checks[c].sweeps - 1];
  }
  return STATUS_OK;
}

/* Means of this rank's sums; \a seconds are its own of the block. */
static void phases_finish(double sums[HIMENO_PHASES], double seconds, struct solver_block *b)
{
  double exposed = seconds - sums[PHASE_INTERIOR] - sums[PHASE_BOUNDARY];
  sums[PHASE_EXPOSED] = exposed > 0 ? exposed : 0;
  for (int p = 0; p < HIMENO_PHASES; p++) b->phases[p] = sums[p] / b->sweeps;
}

/* A block lasts as long as the slowest rank of each part. */
static status_t times_finish(struct solver *s, struct solver_block *b, int n)
{
  double *mine = s->seconds, *all = s->seconds + n, sum = 0;
  for (int p = 0; p < n; p++) sum += mine[p];
  if (s->config.clock) {
    block_simulate(s, b->sweeps, &sum);
    for (int p = 0; p < n; p++) mine[p] = p ? 0 : sum;
  }
  RETURN_IF_FAILED(block_slowest(s, mine, all, n));
  for (int p = 0; p < n; p++) b->seconds += all[p];
  if (s->config.clock) s->config.clock->advance(b->seconds);
  phases_finish(s->block_sums, sum, b);
  b->waited = s->unattended && s->overlap ? b->phases[PHASE_WAIT] : 0;
  return STATUS_OK;
}

static status_t block_continue(struct solver *s, int sweeps, int cut, struct solver_block *block)
{
  struct solver_block b = {.sweeps = sweeps};
  int n;
  if (sweeps < 1 || sweeps > s->config.max_sweeps)
    return log_fail(STATUS_USAGE, "a block of %d sweeps in a solver made for 1 to %d", sweeps,
                    s->config.max_sweeps);
  RETURN_IF_FAILED(gpu_clear(s->compute, s->fields.gosa, 0, s->fields.gosa.bytes));
  RETURN_IF_FAILED(segments_run(s, cut, sweeps, &n));
  s->swept += sweeps;
  RETURN_IF_FAILED(times_finish(s, &b, n));
  RETURN_IF_FAILED(checks_sum(s));
  b.checks = s->checks;
  b.n_checks = s->n_checks;
  b.gosa = s->checks[s->n_checks - 1].gosa;
  b.checksum = s->checks[s->n_checks - 1].checksum;
  *block = b;
  return STATUS_OK;
}

status_t solver_block_continue(struct solver *s, int sweeps, struct solver_block *block)
{
  return block_continue(s, sweeps, 0, block);
}

status_t solver_block_run(struct solver *s, int sweeps, int cut, struct solver_block *block)
{
  RETURN_IF_FAILED(restore(s));
  return block_continue(s, sweeps, cut, block);
}

static status_t ceiling_one(struct solver *s, int passes, double bytes, double *mine)
{
  RETURN_IF_FAILED(gpu_record(s->block_begin, s->compute));
  for (int p = 0; p < passes; p++) RETURN_IF_FAILED(s->set->ceiling(s->exec, s->compute));
  RETURN_IF_FAILED(gpu_record(s->block_end, s->compute));
  RETURN_IF_FAILED(gpu_sync(s->compute));
  RETURN_IF_FAILED(gpu_elapsed(s->block_begin, s->block_end, mine));
  if (s->config.clock) *mine = s->config.clock->ceiling(decomp_rank(&s->decomp), bytes);
  return STATUS_OK;
}

/* One turn after the other; \a seconds this rank's, \a most the slowest one's of the last turn. */
static status_t ceiling_each(struct solver *s, int passes, double bytes, double *seconds, double *most)
{
  for (int turn = 0; turn == 0 || turn < s->config.turns; turn++) {
    double took = 0;
    RETURN_IF_FAILED(barrier(s));
    if (turn == s->config.turn) RETURN_IF_FAILED(ceiling_one(s, passes, bytes, &took));
    if (turn == s->config.turn) *seconds = took;
    RETURN_IF_FAILED(block_slowest(s, &took, most, 1));
  }
  return STATUS_OK;
}

status_t solver_ceiling(struct solver *s, int passes, struct solver_rates *rates)
{
  enum { BYTES, RATE, SUMS };
  const double bytes = (double)layout_floats(&s->layout) * HIMENO_BYTES_PER_POINT * passes;
  double seconds = 0, most = 0, sums[SUMS];
  RETURN_IF_FAILED(ceiling_each(s, passes, bytes, &seconds, &most));
  const double mine = seconds > 0 ? bytes / seconds : 0;
  const double parts[SUMS] = {bytes, s->config.sharing > 1 ? mine / s->config.sharing : mine};
  RETURN_IF_FAILED(
      watch_allreduce(s->config.comm, parts, sums, SUMS, MPI_DOUBLE, MPI_SUM, "the ceiling's bytes"));
  rates->all = s->config.turns > 1 ? sums[RATE] : most > 0 ? sums[BYTES] / most : 0;
  rates->mine = mine;
  return STATUS_OK;
}
