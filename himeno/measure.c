/* SPDX-License-Identifier: MIT */
/* The timed part of a run: the ceiling, the blocks, the original protocol. */
#include "config.h"

#include "himeno/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/stats.h"
#include "base/stop.h"
#include "comm/ranks/watch.h"
#include "himeno/partial.h"

#define CEILING_BATCH_SECONDS  0.02
#define CEILING_BATCHES        5
#define CEILING_PASSES_MAX     100
#define CEILING_EVERY_SECONDS  0.5
#define PROGRESS_AFTER_SECONDS 2.0
#define OFFICIAL_SECONDS       60.0
/* Sweeps between check points that last so long are paused behind in timed blocks too: a pause costs some 30 us, untimed, and as much
 * in the first launches after it. Else every so many timed blocks one with pauses runs between them. */
#define PAUSE_SECONDS     0.02
#define CHECK_BLOCK_EVERY 20

/* ---- ceiling ---- */

/* Rates of batches of passes. */
struct ceiling {
  double *rates, since;   /* seconds of blocks since the last batch */
  int n, passes, between; /* blocks as well as before and after them */
};

static status_t ceiling_batch(struct himeno_run *run, struct ceiling *c)
{
  double rate;
  RETURN_IF_FAILED(solver_ceiling(run->solver, c->passes, &rate));
  c->since = 0;
  return stats_add(&c->rates, &c->n, rate);
}

/* Before and after the timed blocks, so that the yardstick and the measured thing share the machine's mood. */
static status_t ceiling_measure(struct himeno_run *run, struct ceiling *c)
{
  double rate, bytes = himeno_points(run->global) * HIMENO_BYTES_PER_POINT;
  RETURN_IF_FAILED(solver_ceiling(run->solver, 1, &rate));
  RETURN_IF_FAILED(solver_ceiling(run->solver, 3, &rate));
  c->passes = rate > 0 ? (int)fmin(CEILING_PASSES_MAX, ceil(CEILING_BATCH_SECONDS * rate / bytes)) : 1;
  for (int b = 0; b < CEILING_BATCHES; b++) RETURN_IF_FAILED(ceiling_batch(run, c));
  return STATUS_OK;
}

/* CPUs share their memory with whatever else runs there, and it changes within seconds: there it is measured between blocks too. A
 * GPU's clocks are those of the kernel before, which stays the sweep. All ranks have the same seconds of a block. */
static status_t ceiling_between(struct himeno_run *run, struct ceiling *c, double block_seconds)
{
  if (!c->between) return STATUS_OK;
  c->since += block_seconds;
  return c->since < CEILING_EVERY_SECONDS ? STATUS_OK : ceiling_batch(run, c);
}

/* ---- timed blocks ---- */

static status_t sample_add(struct himeno_run *run, const struct solver_block *block)
{
  struct himeno_result *r = &run->result;
  RETURN_IF_FAILED(stats_add(&r->samples, &r->n_samples, block->seconds));
  r->seconds += block->seconds;
  r->sweeps += block->sweeps;
  for (int p = 0; p < HIMENO_PHASES; p++) r->phase_sums[p] += block->phases[p];
  return STATUS_OK;
}

static void progress_show(const struct himeno_run *run, double elapsed, double wanted)
{
  if (run->placement.rank != 0 || elapsed < PROGRESS_AFTER_SECONDS || !isatty(STDERR_FILENO)) return;
  fprintf(stderr, "\r  %.0f of about %.0f s, %d blocks", elapsed, wanted, run->result.n_samples);
  if (!himeno_is_emulated(run)) fprintf(stderr, ", %.1f GFLOPS ", himeno_gflops(run));
  fflush(stderr);
}

static void progress_clear(const struct himeno_run *run)
{
  if (run->placement.rank == 0 && isatty(STDERR_FILENO)) fprintf(stderr, "\r%60s\r", "");
}

/* Rank 0's clock decides for all; any rank's signal does. */
status_t himeno_time_is_up(struct himeno_run *run, double begin, double wanted, int *up)
{
  enum { ELAPSED, STOP, FACTS };
  int first = run->placement.rank == 0;
  double mine[FACTS] = {first ? stats_now() - begin : 0, stop_asked()}, all[FACTS];
  RETURN_IF_FAILED(watch_allreduce(run->placement.comm, mine, all, FACTS, MPI_DOUBLE, MPI_MAX, "the clock"));
  progress_show(run, all[ELAPSED], wanted);
  run->result.partial = all[STOP] > 0;
  *up = all[ELAPSED] >= wanted || run->result.partial;
  if (*up || all[ELAPSED] < run->result.next_partial) return STATUS_OK;
  run->result.next_partial = all[ELAPSED] + PARTIAL_SECONDS;
  return himeno_partial_write(run);
}

status_t himeno_block_add(struct himeno_run *run, const struct solver_block *block)
{
  RETURN_IF_FAILED(sample_add(run, block));
  if (run->record) RETURN_IF_FAILED(record_add(run->record, block));
  run->result.last = *block;
  return STATUS_OK;
}

/* Without a reference blocks are still held against each other. */
static int compares(const struct himeno_run *run)
{
  return run->config.verify != HIMENO_VERIFY_OFF;
}

/* The value that all ranks know, and what each of them keeps for itself. */
static status_t block_check(struct himeno_run *run, const struct verify_value *value,
                            const struct solver_block *block, const char *what)
{
  status_t status = verify_block(value, block, what);
  return compares(run) ? status_worst(status, solver_baseline_compare(run->solver, what)) : status;
}

static status_t block_add(struct himeno_run *run, const struct verify_value *value,
                          const struct solver_block *block)
{
  char what[48];
  RETURN_IF_FAILED(himeno_block_add(run, block));
  snprintf(what, sizeof what, "block %d", run->result.n_samples);
  return block_check(run, value, block, what);
}

/* An untimed block that pauses at its check points. */
static status_t check_block(struct himeno_run *run, const struct verify_value *value, int sweeps,
                            const char *what, struct solver_block *block)
{
  RETURN_IF_FAILED(solver_block_run(run->solver, sweeps, compares(run), block));
  run->result.check_blocks += compares(run);
  return block_check(run, value, block, what);
}

/* The value that timed blocks are held against: as prepared, or of the first block where the reference is shorter; then that
 * shorter block is compared, untimed. Tells whether timed blocks pause at check points. */
static status_t value_settle(struct himeno_run *run, int sweeps, struct verify_value *value)
{
  const struct verify_value nothing = {.source = VERIFY_NO};
  int is_short = value->sweeps < sweeps && value->source != VERIFY_NO;
  struct solver_block block;
  if (compares(run)) {
    RETURN_IF_FAILED(solver_baseline_begin(run->solver));
    RETURN_IF_FAILED(verify_coefficients(run->solver, run->placement.comm, value, &run->result.coefficients));
  }
  RETURN_IF_FAILED(check_block(run, value, value->sweeps, is_short ? "check block" : "first block", &block));
  run->result.last = block;
  run->result.verified = value->source;
  if (is_short) {
    RETURN_IF_FAILED(check_block(run, &nothing, sweeps, "first block", &block));
    value->sweeps = sweeps;
    value->gosa = block.gosa;
    value->checksum = block.checksum;
    value->n_checks = 0;
  }
  run->result.pauses =
      compares(run) && block.seconds / block.sweeps * solver_check_sweeps(run->kernel) >= PAUSE_SECONDS;
  return compares(run) ? solver_baseline_take(run->solver) : STATUS_OK;
}

static status_t blocks_run(struct himeno_run *run, struct verify_value *value, struct ceiling *ceiling)
{
  const struct himeno_config *c = &run->config;
  int sweeps = himeno_block_sweeps(c);
  struct solver_block block;
  RETURN_IF_FAILED(value_settle(run, sweeps, value));
  double begin = stats_now();
  for (int up = 0; !up;) {
    RETURN_IF_FAILED(solver_block_run(run->solver, sweeps, run->result.pauses, &block));
    RETURN_IF_FAILED(block_add(run, value, &block));
    if (c->sweeps_given) return STATUS_OK;
    if (compares(run) && !run->result.pauses && run->result.n_samples % CHECK_BLOCK_EVERY == 0)
      RETURN_IF_FAILED(check_block(run, value, sweeps, "check block", &block));
    RETURN_IF_FAILED(himeno_time_is_up(run, begin, c->seconds, &up));
    up = up && (run->result.partial || run->result.n_samples >= run->blocks_min);
    if (!up) RETURN_IF_FAILED(ceiling_between(run, ceiling, block.seconds));
  }
  return STATUS_OK;
}

/* The original protocol: the field is never reset, so nothing after the rehearsal can be compared. */
static status_t official_run(struct himeno_run *run, struct verify_value *value)
{
  double begin, wanted = run->config.seconds_given ? run->config.seconds : OFFICIAL_SECONDS;
  struct solver_block block;
  RETURN_IF_FAILED(solver_block_run(run->solver, OFFICIAL_REHEARSAL, 1, &block));
  RETURN_IF_FAILED(verify_block(value, &block, "rehearsal"));
  run->result.verified = value->source == VERIFY_NO ? VERIFY_NO : VERIFY_REHEARSAL;
  begin = stats_now();
  for (int up = 0; !up;) {
    RETURN_IF_FAILED(solver_block_continue(run->solver, (int)run->config.block, &block));
    RETURN_IF_FAILED(himeno_block_add(run, &block));
    RETURN_IF_FAILED(himeno_time_is_up(run, begin, wanted, &up));
  }
  return STATUS_OK;
}

static status_t measure(struct himeno_run *run, struct verify_value *value, struct ceiling *ceiling)
{
  int with_ceiling = !himeno_is_emulated(run), on_cpu = run->placement.info.is_cpu;
  if (with_ceiling) {
    RETURN_IF_FAILED(ceiling_measure(run, ceiling));
    RETURN_IF_FAILED(watch_allreduce(run->placement.comm, &on_cpu, &ceiling->between, 1, MPI_INT, MPI_MIN,
                                     "the ceiling's times"));
  }
  status_t status = run->config.official ? official_run(run, value) : blocks_run(run, value, ceiling);
  progress_clear(run);
  if (status != STATUS_OK || !with_ceiling) return status;
  RETURN_IF_FAILED(ceiling_measure(run, ceiling));
  run->result.ceiling = stats_summarise(ceiling->rates, (size_t)ceiling->n).median;
  return STATUS_OK;
}

status_t himeno_measure(struct himeno_run *run, struct verify_value *value)
{
  struct ceiling ceiling = {.n = 0};
  status_t status = measure(run, value, &ceiling);
  free(ceiling.rates);
  return status;
}
