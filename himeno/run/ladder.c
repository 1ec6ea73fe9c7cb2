/* SPDX-License-Identifier: MIT */
#include "himeno/run/run.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/measure/measure.h"
#include "himeno/result/ranks.h"
#include "himeno/report/report.h"
#include "himeno/tune/choose.h"
#include "himeno/verify/wrong.h"
#include "suite/program.h"
#include "suite/progress.h"

#define RUNG_SECONDS 1.0
#define PART_SECONDS 0.4 /* usual seconds of one rung in one round, without its blocks */
/* Number of rounds, in each of which every rung is measured. */
#define ROUNDS 3

/* Builds the ladder: kernels in the order of rungs, then the user's own. The caller frees it. */
static status_t himeno_ladder_build(const char *kernel_file, struct himeno_choice *choice,
                                    struct himeno_ladder **ladder)
{
  const struct himeno_kernel_set *set = himeno_kernels_find(choice->placement.backend->name);
  struct himeno_ladder *l = calloc(1, sizeof *l);
  struct himeno_rung *rungs = calloc((size_t)set->n + 1, sizeof *rungs);
  if (!l || !rungs) {
    free(rungs);
    free(l);
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the ladder");
  }
  l->rungs = rungs;
  for (int rung = 1; rung <= set->n; rung++)
    for (int k = 0; k < set->n; k++)
      if (set->kernels[k].rung == rung) l->rungs[l->n++].kernel = &set->kernels[k];
  if (kernel_file) l->rungs[l->n++].kernel = himeno_own_kernel(kernel_file, choice);
  l->made = l->n;
  *ladder = l;
  return STATUS_OK;
}

/* Sets the seconds per sweep. The faster of two blocks counts, because the first may include
 * one-time costs; a first block longer than \a share seconds counts alone. */
static status_t sweep_time(struct solver *solver, int depth, double share, double *seconds)
{
  struct solver_block first, second;
  RETURN_IF_FAILED(solver_block_run(solver, depth, 0, &first));
  *seconds = first.seconds / depth;
  if (first.seconds > share) return STATUS_OK;
  RETURN_IF_FAILED(solver_block_run(solver, depth, 0, &second));
  *seconds = fmin(*seconds, second.seconds / depth);
  return STATUS_OK;
}

/* Chooses as many sweeps as fit into the time of a round, if possible up to a check point. */
static status_t block_choose(const struct himeno_config *config, struct solver *solver,
                             struct himeno_rung *rung)
{
  const int depth = rung->kernel->sweeps, every = solver_check_sweeps(rung->kernel);
  double seconds;
  rung->sweeps = himeno_block_sweeps(config);
  if (config->sweeps_given || config->block_given) return STATUS_OK;
  RETURN_IF_FAILED(sweep_time(solver, depth, config->seconds, &seconds));
  if (!(config->seconds < seconds * rung->sweeps)) return STATUS_OK;
  const int fit = (int)fmax(depth, config->seconds / seconds), step = fit < every ? depth : every;
  rung->sweeps = fit / step * step;
  return STATUS_OK;
}

/* Determines the expected value of the chosen block: from the known values, or by computing it. */
static status_t value_choose(const struct himeno_choice *choice, const struct verify_value *whole,
                             struct himeno_rung *rung)
{
  const struct solver_config solver = himeno_solver_config(choice);
  const bool shorter = whole->source != VERIFY_NO && rung->sweeps < whole->sweeps;
  int at = 0;
  const struct solver_check *check = NULL;
  if (shorter) check = solver_check_seek(whole->checks, whole->n_checks, rung->sweeps, &at);
  rung->value = *whole;
  rung->value.checks = NULL;
  if (shorter && !check)
    return verify_prepare(&solver, (enum himeno_verify)choice->config->verify, choice->config->seconds,
                          rung->sweeps, &rung->value);
  rung->value.n_checks = check ? at + 1 : whole->n_checks;
  if (check) {
    rung->value.sweeps = check->sweeps;
    rung->value.gosa = check->gosa;
    rung->value.checksum = check->checksum;
  }
  rung->value.checks = malloc((size_t)rung->value.n_checks * sizeof *rung->value.checks + 1);
  if (!rung->value.checks) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the ladder");
  if (rung->value.n_checks > 0)
    memcpy(rung->value.checks, whole->checks, (size_t)rung->value.n_checks * sizeof *rung->value.checks);
  return STATUS_OK;
}

/* Adds the results of a round to those of the rung. */
static status_t rung_add(const struct himeno_choice *choice, const struct himeno_result *r,
                         struct himeno_rung *rung)
{
  for (int s = 0; s < r->timing.n_samples; s++)
    RETURN_IF_FAILED(stats_add(&rung->samples, &rung->n_samples, r->timing.samples[s]));
  const struct stats_summary s = stats_summarise(rung->samples, (size_t)rung->n_samples);
  rung->noise = stats_noise(&s);
  rung->gflops = himeno_gflops(himeno_points(choice->global), rung->sweeps, s.median);
  rung->bytes_per_second = himeno_bytes_per_second(rung->gflops);
  rung->gosa = r->timing.last.gosa;
  rung->checksum = r->timing.last.checksum;
  rung->verified = r->verification.source;
  rung->counts = r->counts;
  return STATUS_OK;
}

/* Measures the blocks of one round with an open solver. */
static status_t part_measure(struct himeno_config *own, struct himeno_choice *choice,
                             const struct verify_value *whole, struct himeno_measurement *m,
                             struct himeno_rung *rung)
{
  MPI_Comm comm = choice->placement.comm;
  if (!rung->sweeps) {
    RETURN_IF_FAILED(block_choose(own, m->solver, rung));
    RETURN_IF_FAILED(agree_status(comm, value_choose(choice, whole, rung)));
  }
  struct verify_value value = rung->value;
  own->block = rung->sweeps;
  status_t status = himeno_measure(m, &value);
  if (status == STATUS_OK) status = solver_resources(solver_grid(m->solver), &rung->resources);
  if (status == STATUS_OK) status = himeno_counts_gather(comm, solver_grid(m->solver), &m->result->counts);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  rung->status = agree_status(comm, status);
  if (rung->status == STATUS_WRONG && rung->kernel->file) {
    const struct solver_config solver = himeno_solver_config(choice);
    RETURN_IF_FAILED(wrong_explain(&solver, &choice->placement, m->solver));
  }
  return rung_add(choice, m->result, rung);
}

/* Measures a rung. A kernel of the suite that does not fit this device leaves its rung empty; any
 * other failure ends the run. */
static status_t rung_try(struct himeno_config *own, struct himeno_choice *choice,
                         const struct verify_value *whole, struct himeno_measurement *m,
                         struct himeno_rung *rung)
{
  himeno_result_free(m->result);
  *m->result = (struct himeno_result){.ended = 0};
  choice->kernel = rung->kernel;
  progress_begin("preparing");
  rung->status = agree_status(choice->placement.comm, himeno_refit(choice));
  const struct solver_config wanted = himeno_solver_config(choice);
  if (rung->status == STATUS_OK) rung->status = solver_open(&wanted, &m->solver);
  if (rung->status != STATUS_OK)
    return rung->kernel->file || !status_is_unfit(rung->status) ? rung->status : STATUS_OK;
  status_t status = part_measure(own, choice, whole, m, rung);
  solver_close(m->solver);
  return status;
}

/* Measures a rung in one round. A copy of the configuration holds the rung's block and time. */
static status_t rung_part(struct himeno_choice *choice, const struct verify_value *whole,
                          struct himeno_measurement *m, int rounds, struct himeno_rung *rung)
{
  const struct himeno_config *shared = choice->config;
  struct himeno_config own = *shared;
  own.seconds = (own.seconds_given ? own.seconds : RUNG_SECONDS) / rounds;
  choice->config = &own;
  status_t status = rung->status == STATUS_OK ? rung_try(&own, choice, whole, m, rung) : STATUS_OK;
  choice->config = shared;
  return status;
}

static void ceiling_settle(struct himeno_ladder *ladder)
{
  const struct stats_summary s = stats_summarise(ladder->ceilings.rates, (size_t)ladder->ceilings.n);
  ladder->ceiling = s.median;
  ladder->ceiling_noise = stats_noise(&s);
}

/* Sets the expected time: the remaining rungs take what the completed ones took on average. */
static void ladder_expect(const struct himeno_choice *choice, const struct himeno_ladder *ladder, int done)
{
  const struct himeno_config *c = choice->config;
  const double planned = (c->seconds_given ? c->seconds : RUNG_SECONDS) / ladder->rounds + PART_SECONDS,
               usual = done > 0 ? (stats_now() - ladder->begin) / done : planned;
  if (!choice->placement.info.emulated) progress_expect((ladder->rounds * ladder->n - done) * usual);
}

/* Measures all rungs once. Rounds alternate in direction, so that a rung does not always follow the
 * same one; the last round goes up, and prints each rung as it ends. */
static status_t himeno_ladder_round(struct himeno_choice *choice, const struct verify_value *whole,
                                    struct himeno_measurement *m, struct himeno_ladder *ladder, int round)
{
  const int n = ladder->n, last = round + 1 == ladder->rounds;
  m->ceilings = &ladder->ceilings;
  if (last && round > 0) {
    ceiling_settle(ladder);
    m->ceilings = NULL;
  }
  for (int position = 0; position < n && !ladder->partial; position++) {
    ladder_expect(choice, ladder, round * n + position);
    const int r = round % 2 ? n - 1 - position : position;
    progress_part("rung %d of %d, round %d of %d, %s", r + 1, n, round + 1, ladder->rounds,
                  ladder->rungs[r].kernel->name);
    RETURN_IF_FAILED(rung_part(choice, whole, m, ladder->rounds, &ladder->rungs[r]));
    /* A signal to any rank ends the ladder after its rung. The ladder is complete if that rung was
     * the last one and was not cut short. */
    const int mine = m->result->timing.partial || (stop_asked() && !(last && position + 1 == n));
    RETURN_IF_FAILED(
        watch_allreduce(choice->placement.comm, &mine, &ladder->partial, 1, MPI_INT, MPI_MAX, "the ladder"));
    if (ladder->partial && round == 0) ladder->n = r + 1;
    if (last && round > 0 && choice->placement.rank == 0)
      himeno_ladder_rungs_text(choice, ladder, r + 1, program_out(choice->config->json));
  }
  return STATUS_OK;
}

status_t himeno_ladder(struct himeno_choice *choice, const struct verify_value *value,
                       struct himeno_result *result, struct himeno_ladder **ladder)
{
  const struct judge_plan one = {.noise_max = INFINITY, .device_noise_max = INFINITY};
  struct himeno_measurement m = {.choice = choice, .plan = &one, .result = result, .is_rung = 1};
  status_t worst = STATUS_OK;
  RETURN_IF_FAILED(
      agree_status(choice->placement.comm, himeno_ladder_build(choice->config->kernel_file, choice, ladder)));
  struct himeno_ladder *l = *ladder;
  l->begin = stats_now();
  l->rounds = choice->placement.info.emulated ? 1 : ROUNDS;
  for (int round = 0; round < l->rounds && !l->partial; round++)
    RETURN_IF_FAILED(himeno_ladder_round(choice, value, &m, l, round));
  if (l->ceiling == 0) ceiling_settle(l);
  progress_part("%s", "");
  for (int r = 0; r < l->n; r++)
    if (l->rungs[r].status == STATUS_WRONG) worst = STATUS_WRONG;
  if (l->partial) worst = status_worst(worst, STATUS_INCOMPLETE);
  result->verdict = worst;
  result->ended = 1;
  return worst;
}

void himeno_ladder_free(struct himeno_ladder *ladder)
{
  if (!ladder) return;
  for (int r = 0; r < ladder->made; r++) {
    free(ladder->rungs[r].samples);
    verify_value_free(&ladder->rungs[r].value);
  }
  free(ladder->ceilings.rates);
  free(ladder->rungs);
  free(ladder);
}
