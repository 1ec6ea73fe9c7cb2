/* SPDX-License-Identifier: MIT */
/* The steps of a run: place the ranks, choose kernels, verify, measure. */
#include "gemm/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "gemm/measure/measure.h"
#include "gemm/tune/tune.h"
#include "gpu/telemetry.h"
#include "suite/progress.h"

/* Usual time that a kernel takes for trials, verification and the reference product: SETUP_SECONDS,
 * plus SETUP_SHARE of the time of its blocks. */
#define SETUP_SECONDS 0.5
#define SETUP_SHARE   0.1

/* Sets the rank's fault and warning. A fault of the device takes precedence over a fault of our
 * kernel, and that over a fault of a library. */
static void rank_judge(const struct gemm_run *run, struct gemm_rank *rank)
{
  snprintf(rank->fault, sizeof rank->fault, "%s",
           run->work.damage[0] ? run->work.damage : run->result.series[0].fault);
  for (int y = 1; y < run->result.n_series; y++) {
    const struct gemm_series *s = &run->result.series[y];
    char *text = gemm_compare_counts(&run->rig, &run->work, s) ? rank->fault : rank->warning;
    if (s->fault[0] && !text[0])
      snprintf(text, sizeof rank->fault, "reference %s: %.200s", s->kernel->name, s->fault);
  }
}

static void gemm_rank_fill(const struct gemm_run *run, struct gemm_rank *rank)
{
  const struct placement *p = &run->rig.placement;
  *rank = (struct gemm_rank){.row = rank_row_of(p)};
  if (run->result.n_series == 0) return;
  const struct gemm_series *s = &run->result.series[0];
  double median = stats_summarise(s->samples, (size_t)s->n_samples).median;
  rank->row.gflops = median > 0 ? s->flop * s->launches / median / 1e9 : 0;
  rank->check = s->check;
  for (int f = 0; run->work.flips && f < GEMM_FLIPS_MAX; f++)
    rank->unflipped |= run->work.flips[f].due && run->work.flips[f].rank == p->rank;
  rank->starved = run->result.starved;
  rank_judge(run, rank);
  rank->power_share = NAN;
  if (!run->power.telemetry) return;
  struct telemetry_state state;
  telemetry_state(run->power.telemetry, &state);
  rank->power_share = worth_share(run->power.watts, run->power.n_watts, state.watts_limit);
}

static status_t gemm_ranks_gather(struct gemm_run *run)
{
  const struct placement *p = &run->rig.placement;
  struct gemm_rank mine;
  gemm_rank_fill(run, &mine);
  if (run->work.cluster) RETURN_IF_FAILED(agree_status(p->comm, gemm_cluster_collect(&run->work, &mine)));
  if (p->rank == 0) run->result.ranks = calloc((size_t)p->ranks, sizeof mine);
  int have = p->rank != 0 || run->result.ranks;
  RETURN_IF_FAILED(
      agree_status(p->comm, have ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for ranks")));
  RETURN_IF_FAILED(watch_gather(p->comm, &mine, run->result.ranks, sizeof mine, "what the ranks found"));
  for (int r = 0; p->rank == 0 && r < p->ranks; r++)
    if (run->result.ranks[r].unflipped)
      log_warn("HIMENO_GEMM_FLIP: nothing was flipped, rank %d had no such look", r);
  return STATUS_OK;
}

void gemm_run_expect(const struct gemm_run *run, int sizes)
{
  const double series = run->rig.config.seconds * (1 + SETUP_SHARE) + SETUP_SECONDS;
  if (!run->rig.placement.info.emulated) progress_expect(sizes * run->result.n_series * series);
}

static status_t product_run(struct gemm_run *run)
{
  RETURN_IF_FAILED(agree_status(run->rig.placement.comm, gemm_problem_open(run, NULL)));
  RETURN_IF_FAILED(agree_status(run->rig.placement.comm,
                                gemm_flip_check(run->work.flips, &run->work.matrices.problem,
                                                run->rig.placement.ranks, run->work.cluster != NULL)));
  gemm_run_expect(run, 1);
  if (run->work.cluster) RETURN_IF_FAILED(gemm_cluster_prepare(run));
  if (run->rig.config.accept) run->power.telemetry = telemetry_open(run->rig.placement.info.pci);
  for (int s = 0; s < run->result.n_series && !run->work.cluster; s++)
    RETURN_IF_FAILED(gemm_tune(&run->rig, &run->work, &run->result.series[s]));
  run->result.verdict = gemm_measure(run, run->result.series, run->result.n_series, run->rig.config.seconds);
  const struct gemm_series *ours = &run->result.series[0];
  if (run->result.verdict != STATUS_OK || ours->status != STATUS_ENVIRONMENT) return run->result.verdict;
  return agree_status(run->rig.placement.comm,
                      log_fail(STATUS_ENVIRONMENT, "kernel %s: %s", ours->kernel->name, ours->why));
}

status_t gemm_run(struct gemm_run *run)
{
  RETURN_IF_FAILED(agree_status(run->rig.placement.comm, gemm_flip_read(&run->work.flips)));
  RETURN_IF_FAILED(gemm_place(&run->rig));
  gemm_cmdline_ignore(&run->rig.config, !run->rig.placement.info.emulated);
  RETURN_IF_FAILED(agree_status(run->rig.placement.comm, gemm_ceilings_measure(&run->rig)));
  status_t status = run->rig.config.ladder ? gemm_ladder(run) : product_run(run);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  RETURN_IF_FAILED(gemm_ranks_gather(run));
  return status_worst(status, run->result.partial ? STATUS_INCOMPLETE : STATUS_OK);
}

void gemm_run_close(struct gemm_run *run)
{
  gemm_problem_close(&run->work, &run->result);
  gemm_ladder_free(&run->result);
  free(run->result.ranks);
  telemetry_close(run->power.telemetry);
  free(run->power.watts);
  gpu_event_destroy(run->rig.end);
  gpu_event_destroy(run->rig.begin);
  gpu_queue_destroy(run->rig.queue);
  gpu_close(run->rig.device);
}
