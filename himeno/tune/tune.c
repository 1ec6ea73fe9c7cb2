/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/tune/tune.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/meta.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/tune/choose.h"
#include "suite/tune_cache.h"

#define TRIAL_SECONDS    0.02
#define TRIAL_SWEEPS_MAX 1200
#define TRIAL_BLOCKS     3
#define KEY_MAX          512

/* What the choice depends on. Ranks are taken to have devices like rank 0's. */
static void key_make(const struct himeno_run *run, char key[KEY_MAX])
{
  const struct gpu_device_info *info = &run->placement.info;
  snprintf(key, KEY_MAX,
           "%s|%s|%s|%s|%" PRId64 "x%" PRId64 "x%" PRId64 "|%s|%dx%dx%d|%s|%s|%d units|%" PRId64 " padded",
           run->placement.backend->name, info->name, info->driver, meta_version(), run->global[0],
           run->global[1], run->global[2], run->config.data == HIMENO_DENSE ? "dense" : "standard",
           run->procs[0], run->procs[1], run->procs[2], run->transport->name,
           run->config.no_overlap ? "apart" : "overlap", info->compute_units, run->config.pad);
}

/* Makes \a kernel the run's, with a cut that suits it; 0 where it cannot be. Says nothing: the next one may. */
static int kernel_fits(struct himeno_run *run, const struct himeno_kernel *kernel)
{
  run->kernel = kernel;
  log_mute(1);
  int fits = agree_status(run->placement.comm, himeno_refit(run)) == STATUS_OK;
  log_mute(0);
  return fits;
}

/* Best of a few blocks, each long enough to measure; seconds a sweep, the same on all ranks. */
static status_t solver_time(struct solver *solver, int deep, double *seconds)
{
  struct solver_block block;
  RETURN_IF_FAILED(solver_block_run(solver, 3 * deep, 0, &block));
  RETURN_IF_FAILED(solver_block_run(solver, 3 * deep, 0, &block));
  double passes = fmin(TRIAL_SWEEPS_MAX / deep, fmax(3, ceil(TRIAL_SECONDS / (block.seconds / 3))));
  int sweeps = (int)passes * deep;
  double best = INFINITY;
  for (int b = 0; b < TRIAL_BLOCKS; b++) {
    RETURN_IF_FAILED(solver_block_run(solver, sweeps, 0, &block));
    best = fmin(best, block.seconds / sweeps);
  }
  *seconds = best;
  return STATUS_OK;
}

/* Time a sweep of \a kernel, infinite where this device cannot run it. A fault is a fault here too. */
static status_t trial(struct himeno_run *run, const struct himeno_kernel *kernel, double *seconds)
{
  struct solver *solver;
  *seconds = INFINITY;
  if (!kernel_fits(run, kernel)) return STATUS_OK;
  struct solver_config config = himeno_solver_config(run);
  config.max_sweeps = TRIAL_SWEEPS_MAX;
  log_mute(1);
  status_t status = solver_open(&config, &solver);
  log_mute(0);
  if (status != STATUS_OK) return status == STATUS_FAULT || status == STATUS_HANG ? status : STATUS_OK;
  status = solver_time(solver, kernel->sweeps, seconds);
  solver_close(solver);
  return status;
}

static status_t trials(struct himeno_run *run, const struct himeno_kernel_set *set,
                       const struct himeno_kernel **best, double *least)
{
  *least = INFINITY;
  for (int k = 0; k < set->n; k++) {
    double seconds;
    if (!set->kernels[k].trial) continue;
    RETURN_IF_FAILED(trial(run, &set->kernels[k], &seconds));
    if (seconds >= *least) continue;
    *least = seconds;
    *best = &set->kernels[k];
  }
  return STATUS_OK;
}

/* Rank 0 reads the cache; all follow. NULL where nothing fitting is remembered. */
static status_t remembered(struct himeno_run *run, const struct himeno_kernel_set *set, const char *key,
                           const struct himeno_kernel **kernel)
{
  char name[64] = "";
  if (run->placement.rank == 0 && !run->config.tune) tune_cache_find(key, name, sizeof name);
  RETURN_IF_FAILED(watch_bcast(run->placement.comm, name, sizeof name, MPI_CHAR, 0, "a remembered kernel"));
  *kernel = himeno_kernel_find(set, name);
  return STATUS_OK;
}

status_t himeno_tune(struct himeno_run *run)
{
  char key[KEY_MAX];
  const struct himeno_kernel_set *set = himeno_kernels_find(run->placement.backend->name);
  const struct himeno_kernel *plain = run->kernel, *kernel = NULL;
  double seconds;
  if (run->config.no_tune || himeno_kernel_trials(set) < 2) return STATUS_OK;
  key_make(run, key);
  RETURN_IF_FAILED(remembered(run, set, key, &kernel));
  if (kernel && kernel_fits(run, kernel)) {
    run->choice = CHOICE_REMEMBERED;
    return STATUS_OK;
  }
  kernel = plain;
  RETURN_IF_FAILED(trials(run, set, &kernel, &seconds));
  double gflops = himeno_points(run->global) * HIMENO_FLOP_PER_POINT / seconds / 1e9;
  if (run->placement.rank == 0 && isfinite(seconds)) tune_cache_store(key, kernel->name, gflops);
  run->choice = isfinite(seconds) ? CHOICE_TRIAL : CHOICE_DEFAULT;
  run->kernel = kernel;
  return agree_status(run->placement.comm, himeno_refit(run));
}
