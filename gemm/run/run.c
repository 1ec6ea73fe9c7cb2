/* SPDX-License-Identifier: MIT */
/* One run: place the ranks, choose, verify, measure. */
#include "gemm/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "gemm/tune/cluster.h"
#include "gemm/run/ladder.h"
#include "gemm/measure/measure.h"
#include "gemm/tune/choose.h"
#include "gemm/tune/tune.h"
#include "gemm/measure/compare.h"
#include "gpu/telemetry.h"

/* ---- ranks ---- */

/* What is wrong with the device goes before what is wrong with a kernel, and ours before a
 * library. */
static void rank_judge(const struct gemm_run *run, struct gemm_rank *rank)
{
  snprintf(rank->fault, sizeof rank->fault, "%s", run->damage[0] ? run->damage : run->series[0].fault);
  for (int y = 1; y < run->n_series; y++) {
    const struct gemm_series *s = &run->series[y];
    char *text = gemm_compare_counts(run, s) ? rank->fault : rank->warning;
    if (s->fault[0] && !text[0])
      snprintf(text, sizeof rank->fault, "reference %s: %.200s", s->kernel->name, s->fault);
  }
}

static void gemm_rank_fill(const struct gemm_run *run, struct gemm_rank *rank)
{
  const struct placement *p = &run->placement;
  *rank = (struct gemm_rank){.row = rank_row_of(p)};
  if (run->n_series == 0) return;
  const struct gemm_series *s = &run->series[0];
  double median = stats_summarise(s->samples, (size_t)s->n_samples).median;
  rank->row.gflops = median > 0 ? s->flop * s->launches / median / 1e9 : 0;
  rank->check = s->check;
  for (int f = 0; run->flips && f < GEMM_FLIPS_MAX; f++)
    rank->unflipped |= run->flips[f].due && run->flips[f].rank == p->rank;
  rank->starved = run->starved;
  rank_judge(run, rank);
  rank->power_share = NAN;
  if (!run->telemetry) return;
  struct telemetry_state state;
  telemetry_state(run->telemetry, &state);
  rank->power_share = worth_share(run->watts, run->n_watts, state.watts_limit);
}

static status_t gemm_ranks_gather(struct gemm_run *run)
{
  const struct placement *p = &run->placement;
  struct gemm_rank mine;
  gemm_rank_fill(run, &mine);
  if (run->cluster) RETURN_IF_FAILED(agree_status(p->comm, gemm_cluster_collect(run, &mine)));
  if (p->rank == 0) run->ranks = calloc((size_t)p->ranks, sizeof mine);
  int have = p->rank != 0 || run->ranks;
  RETURN_IF_FAILED(
      agree_status(p->comm, have ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for ranks")));
  RETURN_IF_FAILED(watch_gather(p->comm, &mine, run->ranks, sizeof mine, "what the ranks found"));
  for (int r = 0; p->rank == 0 && r < p->ranks; r++)
    if (run->ranks[r].unflipped)
      log_warn("HIMENO_GEMM_FLIP: nothing was flipped, rank %d had no such look", r);
  return STATUS_OK;
}

/* ---- the whole ---- */

static status_t product_run(struct gemm_run *run)
{
  RETURN_IF_FAILED(agree_status(run->placement.comm, gemm_problem_open(run, NULL)));
  RETURN_IF_FAILED(
      agree_status(run->placement.comm, gemm_flip_check(run->flips, &run->matrices.problem,
                                                        run->placement.ranks, run->cluster != NULL)));
  if (run->cluster) RETURN_IF_FAILED(gemm_cluster_prepare(run));
  if (run->config.accept) run->telemetry = telemetry_open(run->placement.info.pci);
  for (int s = 0; s < run->n_series && !run->cluster; s++) RETURN_IF_FAILED(gemm_tune(run, &run->series[s]));
  run->verdict = gemm_measure(run, run->series, run->n_series, run->config.seconds);
  const struct gemm_series *ours = &run->series[0];
  if (run->verdict != STATUS_OK || ours->status != STATUS_ENVIRONMENT) return run->verdict;
  return agree_status(run->placement.comm,
                      log_fail(STATUS_ENVIRONMENT, "kernel %s: %s", ours->kernel->name, ours->why));
}

status_t gemm_run(struct gemm_run *run)
{
  RETURN_IF_FAILED(agree_status(run->placement.comm, gemm_flip_read(&run->flips)));
  RETURN_IF_FAILED(gemm_place(run));
  gemm_cmdline_ignore(&run->config, !run->placement.info.emulated);
  RETURN_IF_FAILED(agree_status(run->placement.comm, gemm_ceilings_measure(run)));
  status_t status = run->config.ladder ? gemm_ladder(run) : product_run(run);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  RETURN_IF_FAILED(gemm_ranks_gather(run));
  return status_worst(status, run->partial ? STATUS_INCOMPLETE : STATUS_OK);
}

void gemm_run_close(struct gemm_run *run)
{
  gemm_problem_close(run);
  gemm_ladder_free(run);
  free(run->ranks);
  telemetry_close(run->telemetry);
  free(run->watts);
  gpu_event_destroy(run->end);
  gpu_event_destroy(run->begin);
  gpu_queue_destroy(run->queue);
  gpu_close(run->device);
}
