/* SPDX-License-Identifier: MIT */
#include "gemm/tune/tune.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "gemm/cluster/product.h"
#include "gemm/measure/measure.h"
#include "gemm/measure/compare.h"
#include "suite/progress.h"

/* The model is rarely that wrong. OpenCL on a CPU compiles for seconds. */
#define TRIALS     8
#define TRIALS_CPU 2
#define LAUNCHES   3

/* What a launch multiplies: of a product of many ranks a panel. */
static struct gemm_problem tried(const struct gemm_run *run)
{
  return run->cluster ? gemm_cluster_part(run->cluster, 0, (const int[2]){0}) : run->problem;
}

struct candidate {
  int index;
  double predicted;
};

static int by_prediction(const void *a, const void *b)
{
  const struct candidate *x = a, *y = b;
  if (x->predicted != y->predicted) return x->predicted < y->predicted ? -1 : 1;
  return x->index - y->index;
}

/* Seconds of a product, after one that is not counted. C holds what the counted ones left. */
static status_t gemm_trial_time(struct gemm_run *run, struct gemm_exec *exec, double *seconds)
{
  RETURN_IF_FAILED(gemm_launch(exec, run->queue, &run->matrices.on));
  RETURN_IF_FAILED(gemm_matrices_reset(&run->matrices));
  RETURN_IF_FAILED(gpu_sync(run->queue));
  return gemm_block_time(run, exec, LAUNCHES, seconds);
}

/* What does not run here is passed over. STATUS_WRONG where it computes something else than the
 * first one; of panels the product is compared instead. */
static status_t gemm_trial(struct gemm_run *run, struct gemm_series *trials, const struct gemm_blocks *blocks,
                           double *seconds)
{
  status_t status;
  const struct gemm_problem problem = tried(run);
  TRY(gemm_exec_open(trials->kernel, run->device, &problem, blocks, &trials->exec), done);
  if (!trials->first && run->config.verify != GEMM_VERIFY_OFF && !run->cluster)
    TRY(gemm_compare_product(run, trials, GEMM_BLOCK_TRIAL), done);
  if (!trials->fault[0]) TRY(gemm_trial_time(run, trials->exec, seconds), done);
  if (!trials->fault[0] && !run->cluster) TRY(gemm_compare_block(run, trials, GEMM_BLOCK_TRIAL), done);
done:
  gemm_exec_close(trials->exec);
  trials->exec = NULL;
  if (status == STATUS_WRONG) return status;
  if (status != STATUS_OK) *seconds = DBL_MAX;
  log_drop();
  return STATUS_OK;
}

/* Rank 0 tries, the others follow. */
static status_t fastest(struct gemm_run *run, struct gemm_series *trials, const struct candidate *candidates,
                        int *best)
{
  const struct gemm_kernel *kernel = trials->kernel;
  int tried = 0, most = run->placement.info.is_cpu ? TRIALS_CPU : TRIALS;
  double least = DBL_MAX;
  for (int n = 0; n < kernel->n_blocks && !trials->fault[0] && (tried < most || *best < 0); n++, tried++) {
    double seconds = DBL_MAX;
    RETURN_IF_FAILED(gemm_trial(run, trials, &kernel->blocks[candidates[n].index], &seconds));
    if (seconds >= least) continue;
    least = seconds;
    *best = candidates[n].index;
  }
  return STATUS_OK;
}

static status_t gemm_tune_choose(struct gemm_run *run, struct gemm_series *s, int *best)
{
  const struct gemm_machine machine = gemm_run_machine(run);
  const struct gemm_problem problem = tried(run);
  const struct gemm_kernel *kernel = s->kernel;
  struct gemm_series trials = {.kernel = kernel, .launches = LAUNCHES};
  struct candidate *candidates = malloc((size_t)kernel->n_blocks * sizeof *candidates);
  if (!candidates) return STATUS_OK;
  for (int n = 0; n < kernel->n_blocks; n++)
    candidates[n] = (struct candidate){n, gemm_predict(&machine, &problem, &kernel->blocks[n]).seconds};
  qsort(candidates, (size_t)kernel->n_blocks, sizeof *candidates, by_prediction);
  status_t status = fastest(run, &trials, candidates, best);
  memcpy(s->fault, trials.fault, sizeof s->fault);
  free(candidates);
  free(trials.first);
  free(trials.first_block);
  return status;
}

status_t gemm_tune(struct gemm_run *run, struct gemm_series *s)
{
  const struct gemm_kernel *kernel = s->kernel;
  const struct gemm_problem problem = tried(run);
  char why[GPU_TEXT_MAX];
  int best = -1;
  status_t status = STATUS_OK;
  if (kernel->n_blocks == 0) return STATUS_OK;
  progress_begin("trying tiles of %s", kernel->name);
  if (kernel->n_blocks > 1 && run->placement.rank == 0 &&
      gemm_kernel_fits(kernel, run->device, &problem, why))
    status = gemm_tune_choose(run, s, &best);
  status = agree_status(run->placement.comm, status);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  RETURN_IF_FAILED(watch_bcast(run->placement.comm, &best, 1, MPI_INT, 0, "the choice of tiles"));
  s->blocks = kernel->blocks[best < 0 ? 0 : best];
  return STATUS_OK;
}
