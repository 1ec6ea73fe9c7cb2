/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "himeno/tune/choose.h"
#include "suite/progress.h"

#define TRIAL_SECONDS    0.02
#define TRIAL_SWEEPS_MAX 1200
#define TRIAL_BLOCKS     3
/* A kernel slower than the best one by this factor, per sweep, is not measured further. */
#define TRIAL_LOST 1.5

/* Sets the choice to \a kernel, with a decomposition for it. Returns 0 if that is impossible,
 * without a message, because the next kernel may fit. */
static int kernel_fits(struct himeno_choice *choice, const struct himeno_kernel *kernel)
{
  const double points = himeno_points(choice->global) / choice->placement.ranks;
  if (kernel->points_max && points > (double)kernel->points_max) return 0;
  choice->kernel = kernel;
  log_mute(1);
  int fits = agree_status(choice->placement.comm, himeno_refit(choice)) == STATUS_OK;
  log_mute(0);
  return fits;
}

/* Sets the seconds per sweep, the same on all ranks: the best of a few blocks, each long enough to
 * measure. Measures only one block if the kernel is far slower than \a least. */
static status_t solver_time(struct solver *solver, int depth, double least, double *seconds)
{
  struct solver_block block;
  RETURN_IF_FAILED(solver_block_run(solver, 3 * depth, 0, &block));
  RETURN_IF_FAILED(solver_block_run(solver, 3 * depth, 0, &block));
  double passes = fmin(TRIAL_SWEEPS_MAX / depth, fmax(3, ceil(TRIAL_SECONDS / (block.seconds / 3))));
  int sweeps = (int)passes * depth;
  double best = INFINITY;
  for (int b = 0; b < TRIAL_BLOCKS && (b == 0 || best < TRIAL_LOST * least); b++) {
    RETURN_IF_FAILED(solver_block_run(solver, sweeps, 0, &block));
    best = fmin(best, block.seconds / sweeps);
  }
  *seconds = best;
  return STATUS_OK;
}

/* Sets a kernel's time per sweep, infinite if this device cannot run it. Other failures end the
 * run. */
static status_t himeno_trial_run(struct himeno_choice *choice, const struct himeno_kernel *kernel,
                                 double least, double *seconds)
{
  struct solver *solver;
  *seconds = INFINITY;
  if (!kernel_fits(choice, kernel)) return STATUS_OK;
  struct solver_config wanted = himeno_solver_config(choice);
  wanted.max_sweeps = TRIAL_SWEEPS_MAX;
  wanted.faults = NULL; /* the faults are planted in the run itself, not in trials */
  log_mute(LOG_UNFIT);
  status_t status = solver_open(&wanted, &solver);
  log_mute(0);
  if (status != STATUS_OK) return status_is_unfit(status) ? STATUS_OK : status;
  status = solver_time(solver, kernel->sweeps, least, seconds);
  solver_close(solver);
  return status;
}

static status_t trials_of(struct himeno_choice *choice, const struct himeno_kernel_set *set, int depth,
                          int *n, const struct himeno_kernel **best, double *least)
{
  for (int k = 0; k < set->n; k++) {
    double seconds;
    if (!set->kernels[k].trial || set->kernels[k].sweeps != depth) continue;
    progress_begin("trying kernels, %d of %d: %s", ++*n, himeno_kernel_trials(set), set->kernels[k].name);
    RETURN_IF_FAILED(himeno_trial_run(choice, &set->kernels[k], *least, &seconds));
    if (seconds >= *least) continue;
    *least = seconds;
    *best = &set->kernels[k];
  }
  return STATUS_OK;
}

/* Tries the kernels with most sweeps per pass first: they are likely to be the fastest, and slower
 * kernels are measured with fewer blocks. */
static status_t trials(struct himeno_choice *choice, const struct himeno_kernel_set *set,
                       const struct himeno_kernel **best, double *least)
{
  int deepest = 1, n = 0;
  for (int k = 0; k < set->n; k++)
    if (set->kernels[k].sweeps > deepest) deepest = set->kernels[k].sweeps;
  *least = INFINITY;
  for (int depth = deepest; depth > 0; depth--)
    RETURN_IF_FAILED(trials_of(choice, set, depth, &n, best, least));
  return STATUS_OK;
}

status_t himeno_tune(struct himeno_choice *choice)
{
  const struct himeno_kernel_set *set = himeno_kernels_find(choice->placement.backend->name);
  const struct himeno_kernel *kernel = choice->kernel;
  double seconds;
  if (choice->config->no_tune || himeno_kernel_trials(set) < 2) return STATUS_OK;
  RETURN_IF_FAILED(trials(choice, set, &kernel, &seconds));
  choice->kernel_origin = isfinite(seconds) ? CHOICE_TRIAL : CHOICE_DEFAULT;
  choice->kernel = kernel;
  return agree_status(choice->placement.comm, himeno_refit(choice));
}
