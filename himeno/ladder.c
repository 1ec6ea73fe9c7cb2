/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/ladder.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/measure.h"
#include "himeno/ranks.h"
#include "himeno/tune/choose.h"

#define RUNG_SECONDS 1.0

/* The kernels of the ladder in the order of their rungs, and the user's own; the caller frees the ladder. */
static status_t ladder_make(struct himeno_run *run, struct himeno_ladder **ladder)
{
  const struct himeno_kernel_set *set = himeno_kernels_find(run->placement.backend->name);
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
  if (run->config.kernel_file) l->rungs[l->n++].kernel = himeno_own_kernel(run);
  *ladder = l;
  return STATUS_OK;
}

static void result_reset(struct himeno_run *run)
{
  free(run->result.samples);
  memset(&run->result, 0, sizeof run->result);
}

static void rung_fill(struct himeno_rung *rung, const struct himeno_run *run)
{
  const struct himeno_result *r = &run->result;
  rung->gflops = himeno_gflops(run);
  rung->bytes_per_second = himeno_bytes_per_second(run);
  rung->ceiling = r->ceiling;
  rung->gosa = r->last.gosa;
  rung->checksum = r->last.checksum;
  rung->verified = r->verified;
  rung->blocks = r->n_samples;
  rung->counts = r->counts;
}

/* A kernel of the suite that does not fit this device leaves its rung empty; anything else that fails ends the run. */
static status_t rung_run(struct himeno_run *run, const struct verify_value *known, struct himeno_rung *rung)
{
  struct verify_value value = *known;
  run->kernel = rung->kernel;
  result_reset(run);
  rung->status = agree_status(run->placement.comm, himeno_refit(run));
  struct solver_config config = himeno_solver_config(run);
  if (rung->status == STATUS_OK) rung->status = solver_open(&config, &run->solver);
  if (rung->status == STATUS_FAULT || rung->status == STATUS_HANG) return rung->status;
  if (rung->status != STATUS_OK) return rung->kernel->file ? rung->status : STATUS_OK;
  status_t status = himeno_measure(run, &value);
  if (status == STATUS_OK) status = solver_resources(run->solver, &rung->resources);
  if (status == STATUS_OK) status = himeno_counts_gather(run);
  solver_close(run->solver);
  run->solver = NULL;
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  rung->status = agree_status(run->placement.comm, status);
  rung_fill(rung, run);
  return STATUS_OK;
}

/* A signal, to any rank, ends the ladder after its rung. */
static status_t stop_heed(struct himeno_run *run, int rung)
{
  struct himeno_ladder *ladder = run->ladder;
  int mine = stop_asked(), stop;
  RETURN_IF_FAILED(watch_allreduce(run->placement.comm, &mine, &stop, 1, MPI_INT, MPI_MAX, "the ladder"));
  if (!stop) return STATUS_OK;
  ladder->partial = run->result.partial || rung + 1 < ladder->n;
  ladder->n = rung + 1;
  return STATUS_OK;
}

status_t himeno_ladder(struct himeno_run *run, struct verify_value *value)
{
  status_t worst = STATUS_OK;
  RETURN_IF_FAILED(agree_status(run->placement.comm, ladder_make(run, &run->ladder)));
  if (!run->config.seconds_given) run->config.seconds = RUNG_SECONDS;
  for (int r = 0; r < run->ladder->n; r++) {
    RETURN_IF_FAILED(rung_run(run, value, &run->ladder->rungs[r]));
    if (run->ladder->rungs[r].status == STATUS_WRONG) worst = STATUS_WRONG;
    RETURN_IF_FAILED(stop_heed(run, r));
  }
  run->result.verdict = worst;
  run->result.ended = 1;
  return worst;
}

void himeno_ladder_free(struct himeno_run *run)
{
  if (!run->ladder) return;
  free(run->ladder->rungs);
  free(run->ladder);
  run->ladder = NULL;
}
