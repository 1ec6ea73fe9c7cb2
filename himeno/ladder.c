/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/ladder.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/measure.h"
#include "himeno/ranks.h"
#include "himeno/tune/choose.h"

#define RUNG_SECONDS 1.0

/* The kernels of the ladder in the order of their rungs, and the user's own; the caller frees the
 * ladder. */
static status_t ladder_make(const char *kernel_file, struct himeno_choice *choice,
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
  *ladder = l;
  return STATUS_OK;
}

static void rung_fill(struct himeno_rung *rung, const struct himeno_result *r)
{
  rung->gflops = himeno_result_gflops(r);
  rung->bytes_per_second = himeno_bytes_per_second(rung->gflops);
  rung->ceiling = r->ceiling;
  rung->gosa = r->last.gosa;
  rung->checksum = r->last.checksum;
  rung->verified = r->verified;
  rung->blocks = r->n_samples;
  rung->counts = r->counts;
}

/* A kernel of the suite that does not fit this device leaves its rung empty; anything else that
 * fails ends the run. */
static status_t rung_run(const struct himeno_config *config, struct himeno_choice *choice,
                         const struct verify_value *known, struct himeno_result *result,
                         struct himeno_rung *rung)
{
  MPI_Comm comm = choice->placement.comm;
  struct verify_value value = *known;
  struct himeno_measurement m = {.config = config, .choice = choice, .blocks_min = 1, .result = result};
  himeno_result_free(result);
  *result = (struct himeno_result){.seconds = 0};
  choice->kernel = rung->kernel;
  rung->status = agree_status(comm, himeno_refit(config, choice));
  struct solver_config wanted = himeno_solver_config(config, choice);
  if (rung->status == STATUS_OK) rung->status = solver_open(&wanted, &m.solver);
  if (rung->status == STATUS_FAULT || rung->status == STATUS_HANG) return rung->status;
  if (rung->status != STATUS_OK) return rung->kernel->file ? rung->status : STATUS_OK;
  status_t status = himeno_measure(&m, &value);
  if (status == STATUS_OK) status = solver_resources(m.solver, &rung->resources);
  if (status == STATUS_OK) status = himeno_counts_gather(comm, m.solver, result);
  solver_close(m.solver);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  rung->status = agree_status(comm, status);
  rung_fill(rung, result);
  return STATUS_OK;
}

/* A signal, to any rank, ends the ladder after its rung. */
static status_t stop_heed(MPI_Comm comm, int partial, int rung, struct himeno_ladder *ladder)
{
  int mine = stop_asked(), stop;
  RETURN_IF_FAILED(watch_allreduce(comm, &mine, &stop, 1, MPI_INT, MPI_MAX, "the ladder"));
  if (!stop) return STATUS_OK;
  ladder->partial = partial || rung + 1 < ladder->n;
  ladder->n = rung + 1;
  return STATUS_OK;
}

status_t himeno_ladder(const struct himeno_config *config, struct himeno_choice *choice,
                       const struct verify_value *value, struct himeno_result *result,
                       struct himeno_ladder **ladder)
{
  MPI_Comm comm = choice->placement.comm;
  struct himeno_config each = *config;
  status_t worst = STATUS_OK;
  if (!each.seconds_given) each.seconds = RUNG_SECONDS;
  RETURN_IF_FAILED(agree_status(comm, ladder_make(config->kernel_file, choice, ladder)));
  for (int r = 0; r < (*ladder)->n; r++) {
    struct himeno_rung *rung = &(*ladder)->rungs[r];
    RETURN_IF_FAILED(rung_run(&each, choice, value, result, rung));
    if (rung->status == STATUS_WRONG) worst = STATUS_WRONG;
    RETURN_IF_FAILED(stop_heed(comm, result->partial, r, *ladder));
  }
  result->verdict = worst;
  result->ended = 1;
  return worst;
}

void himeno_ladder_free(struct himeno_ladder *ladder)
{
  if (!ladder) return;
  free(ladder->rungs);
  free(ladder);
}
