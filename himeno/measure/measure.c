/* SPDX-License-Identifier: MIT */
/* The timed part of a run. himeno_measure settles the value to compare with, measures the ceiling,
 * runs timed blocks until time and noise limits are met, and measures the ceiling again. This file
 * also has the original protocol (--official) and the partial document. */
#include "himeno/measure/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/result/ranks.h"
#include "suite/progress.h"

#define CEILING_BATCH_SECONDS 0.02
#define CEILING_BATCHES       5
#define CEILING_PASSES_MAX    100
#define CEILING_EVERY_SECONDS 0.5
#define PARTIAL_SECONDS       1.0 /* minimum interval between two partial documents */
/* minimum interval, as a multiple of the time to write the last document */
#define PARTIAL_SHARE 20.0
/* If sweeps between two check points take at least PAUSE_SECONDS, timed blocks pause there too. A
 * pause of some 30 us is not timed, but slows the first launches after it by as much. Otherwise an
 * untimed block with pauses runs after every CHECK_BLOCK_EVERY timed blocks. */
#define PAUSE_SECONDS     0.02
#define CHECK_BLOCK_EVERY 20
#define NOISE_SECONDS     10.0 /* maximum time of extra blocks to determine the noise */
#define ENDING_SECONDS    0.5  /* usual time of the ceiling after the blocks and of the report */

/* Measurements of the ceiling, one per batch of passes: `rates` of all ranks together, `mine` of
 * this rank's device. */
struct ceiling {
  double *rates, *mine, since;    /* since: seconds of blocks since the last batch */
  int n, n_mine, passes, between; /* between: 1 to measure between blocks as well */
};

static status_t ceiling_batch(struct solver *solver, struct ceiling *c)
{
  struct solver_rates rates;
  RETURN_IF_FAILED(solver_ceiling(solver, c->passes, &rates));
  c->since = 0;
  RETURN_IF_FAILED(stats_add(&c->mine, &c->n_mine, rates.mine));
  return stats_add(&c->rates, &c->n, rates.all);
}

/* Measures several batches. Called before and after the timed blocks, so that ceiling and sweeps
 * are measured under the same conditions. */
static status_t ceiling_measure(struct solver *solver, double points, struct ceiling *c)
{
  struct solver_rates rates;
  progress_begin("measuring the ceiling");
  RETURN_IF_FAILED(solver_ceiling(solver, 1, &rates));
  RETURN_IF_FAILED(solver_ceiling(solver, 3, &rates));
  c->passes = rates.all > 0
                  ? (int)fmin(CEILING_PASSES_MAX,
                              ceil(CEILING_BATCH_SECONDS * rates.all / (points * HIMENO_BYTES_PER_POINT)))
                  : 1;
  for (int b = 0; b < CEILING_BATCHES; b++) RETURN_IF_FAILED(ceiling_batch(solver, c));
  return STATUS_OK;
}

/* Returns whether to write the partial document. A run without measurements does not overwrite the
 * document of an earlier run. A pipe or device receives only the final document. */
static int measure_is_due(const char *json, int n_samples)
{
  static int ours;
  if (!ours && n_samples == 0 && access(json, F_OK) == 0) return 0;
  return ours = file_is_plain(json);
}

/* Gathers the ranks and writes the current result. */
static status_t result_write(const struct himeno_measurement *m)
{
  const char *path = m->choice->config->json;
  const int partial = m->result->timing.partial;
  m->result->timing.partial = 1;
  status_t status =
      m->solver ? himeno_ranks_gather(&m->choice->placement, m->solver, m->record, m->result) : STATUS_OK;
  if (status == STATUS_OK && m->choice->placement.rank == 0 &&
      measure_is_due(path, m->result->timing.n_samples)) {
    const struct judge_limits none = {.policy_name = NULL};
    struct judged judged = {.asked = 0};
    json_t *document = NULL;
    status = himeno_judge(m->choice, m->result, &none, &judged, &document);
    if (status == STATUS_OK) status = document_write(document, path);
    judged_free(&judged);
    json_decref(document);
  }
  m->result->timing.partial = partial;
  return status;
}

status_t himeno_partial_write(const struct himeno_measurement *m)
{
  const char *json = m->choice->config->json;
  if (!json || strcmp(json, "-") == 0 || m->choice->config->ladder) return STATUS_OK;
  return agree_status(m->choice->placement.comm, result_write(m));
}

/* Rank 0's clock decides. A signal to a rank ends the run; \a more on a rank prolongs it. */
status_t himeno_time_is_up(struct himeno_measurement *m, double begin, double wanted, int more, int *up)
{
  enum { ELAPSED, STOP, MORE, WROTE, FACTS };
  const struct placement *p = &m->choice->placement;
  struct himeno_timing *t = &m->result->timing;
  int first = p->rank == 0;
  char rate[32] = "";
  double mine[FACTS] = {first ? stats_now() - begin : 0, stop_asked(), more, m->partial_seconds}, all[FACTS];
  RETURN_IF_FAILED(watch_allreduce(p->comm, mine, all, FACTS, MPI_DOUBLE, MPI_MAX, "the clock"));
  if (!p->info.emulated) snprintf(rate, sizeof rate, ", %.4g GFLOPS", himeno_timing_gflops(t));
  progress_reached("%d block%s%s", t->n_samples, t->n_samples == 1 ? "" : "s", rate);
  *up = all[ELAPSED] >= wanted && !(all[MORE] > 0);
  t->partial = !*up && all[STOP] > 0;
  *up |= t->partial;
  if (*up || all[ELAPSED] < m->next_partial) return STATUS_OK;
  m->next_partial = all[ELAPSED] + fmax(PARTIAL_SECONDS, PARTIAL_SHARE * all[WROTE]);
  const double written = stats_now();
  RETURN_IF_FAILED(himeno_partial_write(m));
  m->partial_seconds = stats_now() - written;
  return STATUS_OK;
}

status_t himeno_block_add(struct himeno_measurement *m, const struct solver_block *block)
{
  struct himeno_timing *t = &m->result->timing;
  t->points = himeno_points(m->choice->global);
  RETURN_IF_FAILED(stats_add(&t->samples, &t->n_samples, block->seconds));
  t->seconds += block->seconds;
  t->sweeps += block->sweeps;
  for (int p = 0; p < HIMENO_PHASES; p++) t->phase_sums[p] += block->phases[p];
  t->waited_sum += block->waited;
  if (m->record) RETURN_IF_FAILED(record_add(m->record, block));
  t->last = *block;
  energy_add(&m->result->energy, block);
  return STATUS_OK;
}

/* Returns whether the noise of the blocks' times, and of this rank's own compute times in them, is
 * known as precisely as the checks require. */
static int measure_noise_known(const struct himeno_measurement *m)
{
  const struct record *record = m->record;
  double own[RECORDS_MAX];
  for (int b = 0; b < record->n; b++) own[b] = record->blocks[b].compute - record->blocks[b].waited;
  const struct stats_summary run = stats_summarise(m->result->timing.samples,
                                                   (size_t)m->result->timing.n_samples),
                             device = stats_summarise(own, (size_t)record->n);
  return stats_noise_max(&run) <= m->plan->noise_max && stats_noise_max(&device) <= m->plan->device_noise_max;
}

/* Returns whether this rank needs another block after the requested time, because of the number of
 * blocks, their span, or their noise. Noise may prolong the run by ten times the requested time, at
 * most ten seconds, or by the time elapsed so far if that is longer. Elapsed time includes that
 * between blocks, because a run must end within the limit of its launcher. */
static int measure_needs_more(struct himeno_measurement *m, double begin, double block_seconds)
{
  const struct judge_plan *plan = m->plan;
  const double asked = m->choice->config->seconds, elapsed = stats_now() - begin;
  if (m->result->timing.n_samples < plan->blocks_min) return 1;
  if (m->record && m->record->when[m->record->n - 1].end < plan->span_min) return 1;
  if (isinf(plan->noise_max) && isinf(plan->device_noise_max)) return 0;
  if (elapsed < asked - block_seconds / 2) return 1;
  if (m->noise_until == 0) m->noise_until = elapsed + fmax(elapsed, fmin(10 * asked, NOISE_SECONDS));
  return elapsed < m->noise_until && !measure_noise_known(m);
}

/* Returns whether blocks are compared. Without a reference they are compared with each other. */
static int compares(const struct himeno_config *config)
{
  return config->verify != HIMENO_VERIFY_OFF;
}

/* Compares a block with the known or reference value, and each rank's part with that rank's own
 * baseline. */
static status_t block_check(struct himeno_measurement *m, const struct verify_value *value,
                            const struct solver_block *block, const char *what)
{
  status_t status = verify_block(value, block, what);
  return compares(m->choice->config)
             ? status_worst(status, solver_baseline_compare(solver_grid(m->solver), m->choice->placement.comm,
                                                            block, what))
             : status;
}

/* Runs an untimed block that pauses at its check points, and compares it. */
static status_t check_block(struct himeno_measurement *m, const struct verify_value *value, int sweeps,
                            const char *what, struct solver_block *block)
{
  RETURN_IF_FAILED(solver_block_run(m->solver, sweeps, compares(m->choice->config), block));
  m->result->verification.check_blocks += compares(m->choice->config);
  energy_add(&m->result->energy, block);
  return block_check(m, value, block, what);
}

/* Determines the value with which timed blocks are compared: the prepared one or, if the reference
 * is shorter than a block, that of a first block. In that case an untimed block of the reference's
 * length is compared with it. Also decides whether timed blocks pause at check points. */
static status_t value_settle(struct himeno_measurement *m, int sweeps, struct verify_value *value)
{
  const struct verify_value nothing = {.source = VERIFY_NO};
  int is_short = value->sweeps < sweeps && value->source != VERIFY_NO;
  struct himeno_verification *v = &m->result->verification;
  struct solver_grid *grid = solver_grid(m->solver);
  struct solver_block block;
  progress_begin("verifying");
  if (compares(m->choice->config)) {
    RETURN_IF_FAILED(solver_baseline_begin(grid));
    RETURN_IF_FAILED(verify_coefficients(grid, m->choice->placement.comm, value, &v->coefficients));
  }
  RETURN_IF_FAILED(check_block(m, value, value->sweeps, is_short ? "check block" : "first block", &block));
  m->result->timing.last = block;
  v->source = value->source;
  if (is_short) {
    v->reference_sweeps = value->sweeps;
    RETURN_IF_FAILED(check_block(m, &nothing, sweeps, "first block", &block));
    value->sweeps = sweeps;
    value->gosa = block.gosa;
    value->checksum = block.checksum;
    value->n_checks = 0;
  }
  v->pauses = compares(m->choice->config) &&
              block.seconds / block.sweeps * solver_check_sweeps(m->choice->kernel) >= PAUSE_SECONDS;
  if (!compares(m->choice->config)) return STATUS_OK;
  v->n_points = block.n_checks;
  return solver_baseline_take(grid, &block, &v->points);
}

/* Begins the timed part. Blocks begin after every rank's energy window has begun, so that no window
 * is too short. \a wanted is the planned time in seconds, negative if unknown. */
static status_t timing_begin(struct himeno_measurement *m, double wanted)
{
  progress_begin("measuring idle power");
  if (m->record) {
    energy_begin(m->record->device, wanted, &m->result->energy);
    RETURN_IF_FAILED(watch_barrier(m->choice->placement.comm, "idle power"));
    record_begin(m->record);
  }
  const struct solver_block *last = &m->result->timing.last;
  const double block = m->choice->placement.info.emulated
                           ? wanted
                           : last->seconds / last->sweeps * himeno_block_sweeps(m->choice->config);
  if (!m->is_rung) progress_expect(fmax(wanted, block) + ENDING_SECONDS);
  progress_begin("timing");
  return STATUS_OK;
}

static status_t measure_blocks_run(struct himeno_measurement *m, struct verify_value *value,
                                   struct ceiling *ceiling)
{
  const struct himeno_config *c = m->choice->config;
  int sweeps = himeno_block_sweeps(c);
  struct solver_block block;
  char what[48];
  RETURN_IF_FAILED(value_settle(m, sweeps, value));
  RETURN_IF_FAILED(timing_begin(m, c->sweeps_given ? -1 : c->seconds));
  double begin = stats_now();
  for (int up = 0; !up;) {
    RETURN_IF_FAILED(solver_block_run(m->solver, sweeps, m->result->verification.pauses, &block));
    RETURN_IF_FAILED(himeno_block_add(m, &block));
    snprintf(what, sizeof what, "block %d", m->result->timing.n_samples);
    RETURN_IF_FAILED(block_check(m, value, &block, what));
    if (c->sweeps_given) return STATUS_OK;
    if (compares(c) && !m->result->verification.pauses &&
        m->result->timing.n_samples % CHECK_BLOCK_EVERY == 0)
      RETURN_IF_FAILED(check_block(m, value, sweeps, "check block", &block));
    RETURN_IF_FAILED(
        himeno_time_is_up(m, begin, c->seconds, measure_needs_more(m, begin, block.seconds), &up));
    /* On CPUs, other processes share the memory's bandwidth, and their load changes within seconds:
     * measure the ceiling between blocks too. On a GPU that would change the clocks of the sweep.
     * Block times are the same on all ranks, so all ranks measure or none. */
    ceiling->since += block.seconds;
    if (!up && ceiling->between && ceiling->since >= CEILING_EVERY_SECONDS)
      RETURN_IF_FAILED(ceiling_batch(m->solver, ceiling));
  }
  return STATUS_OK;
}

/* The original protocol never resets the field, so nothing after the rehearsal can be compared. */
static status_t official_run(struct himeno_measurement *m, struct verify_value *value)
{
  double begin,
      wanted = m->choice->config->seconds_given ? m->choice->config->seconds : HIMENO_OFFICIAL_SECONDS;
  struct solver_block block;
  RETURN_IF_FAILED(solver_block_run(m->solver, HIMENO_REHEARSAL_SWEEPS, 1, &block));
  RETURN_IF_FAILED(verify_block(value, &block, "rehearsal"));
  m->result->verification.source = value->source == VERIFY_NO ? VERIFY_NO : VERIFY_REHEARSAL;
  RETURN_IF_FAILED(timing_begin(m, wanted));
  begin = stats_now();
  for (int up = 0; !up;) {
    RETURN_IF_FAILED(solver_block_continue(m->solver, (int)m->choice->config->block, 0, &block));
    RETURN_IF_FAILED(himeno_block_add(m, &block));
    RETURN_IF_FAILED(himeno_time_is_up(m, begin, wanted, 0, &up));
  }
  return STATUS_OK;
}

/* Measures the ceiling with the other data set, at the very end: memory that compresses data moves
 * a constant faster than varying values. */
static status_t other_ceiling(struct himeno_measurement *m, const struct ceiling *c)
{
  struct solver_rates rates;
  double *all = NULL;
  int n = 0;
  status_t status = solver_fill(solver_grid(m->solver),
                                m->choice->config->data == HIMENO_DENSE ? HIMENO_STANDARD : HIMENO_DENSE);
  for (int b = 0; b < CEILING_BATCHES && status == STATUS_OK; b++) {
    status = solver_ceiling(m->solver, c->passes, &rates);
    if (status == STATUS_OK) status = stats_add(&all, &n, rates.all);
  }
  const struct stats_summary other = stats_summarise(all, (size_t)n),
                             same = stats_summarise(c->rates, (size_t)c->n);
  m->result->ceiling.other_data = other.median;
  m->result->ceiling.noise = hypot(stats_noise(&other), stats_noise(&same));
  free(all);
  return status;
}

/* Measures the ceiling after the blocks, and with the other data set. */
static status_t ceiling_finish(struct himeno_measurement *m, double points, struct ceiling *ceiling)
{
  RETURN_IF_FAILED(ceiling_measure(m->solver, points, ceiling));
  if (!m->result->timing.partial) RETURN_IF_FAILED(other_ceiling(m, ceiling));
  m->result->ceiling.all = stats_summarise(ceiling->rates, (size_t)ceiling->n).median;
  const struct stats_summary mine = stats_summarise(ceiling->mine, (size_t)ceiling->n_mine);
  m->result->ceiling.mine = mine.median;
  m->result->ceiling.mine_noise = stats_noise_max(&mine);
  return STATUS_OK;
}

static status_t measure_blocks(struct himeno_measurement *m, struct verify_value *value,
                               struct ceiling *ceiling)
{
  const struct placement *p = &m->choice->placement;
  const double points = himeno_points(m->choice->global);
  int with_ceiling = !p->info.emulated && (!m->is_rung || m->ceilings), on_cpu = p->info.is_cpu;
  if (with_ceiling) {
    RETURN_IF_FAILED(ceiling_measure(m->solver, points, ceiling));
    RETURN_IF_FAILED(
        watch_allreduce(p->comm, &on_cpu, &ceiling->between, 1, MPI_INT, MPI_MIN, "the ceiling's times"));
  }
  status_t status =
      m->choice->config->official ? official_run(m, value) : measure_blocks_run(m, value, ceiling);
  if (m->record) energy_end(m->record->device, &m->result->energy);
  if (status != STATUS_OK || !with_ceiling || m->is_rung) return status;
  return ceiling_finish(m, points, ceiling);
}

status_t himeno_measure(struct himeno_measurement *m, struct verify_value *value)
{
  struct ceiling ceiling = {.n = 0};
  status_t status = measure_blocks(m, value, &ceiling);
  for (int b = 0; m->ceilings && b < ceiling.n && status == STATUS_OK; b++)
    status = stats_add(&m->ceilings->rates, &m->ceilings->n, ceiling.rates[b]);
  free(ceiling.rates);
  free(ceiling.mine);
  return status;
}
