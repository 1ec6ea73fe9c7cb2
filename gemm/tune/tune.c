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
#include "suite/progress.h"

/* Maximum number of trials. The fastest tiles are almost always among the model's best. Fewer
 * trials run on a CPU, where OpenCL compiles for seconds. */
#define TRIALS     8
#define TRIALS_CPU 2
#define LAUNCHES   3
/* Fetching and comparing a larger C takes seconds, so the model's choice is used without trials. */
#define BYTES_LARGE ((size_t)1 << 30)
/* A tiling is skipped if its predicted time exceeds the fastest measured time by this factor. */
#define HOPELESS 3
/* Launches per trial on a GPU if the product has fewer than FLOP_SHORT operations, because it then
 * takes only microseconds. */
#define LAUNCHES_SHORT 20
#define FLOP_SHORT     3e10

/* Returns the problem of one launch, which multiplies one panel if the product is distributed. */
static struct gemm_problem tried(const struct gemm_work *work)
{
  return work->cluster ? gemm_cluster_part(work->cluster, 0, (const int[2]){0}) : work->problem;
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

/* Runs one trial. *seconds becomes DBL_MAX if these blocks cannot run here. Returns STATUS_WRONG if
 * the result is wrong; the panels of a distributed product are not compared here. */
static status_t gemm_trial(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *trials,
                           const struct gemm_blocks *blocks, double *seconds)
{
  status_t status;
  const struct gemm_problem problem = tried(work);
  TRY(gemm_exec_open(trials->kernel, rig->device, &problem, blocks, &trials->exec), done);
  if (!trials->first && rig->config.verify != GEMM_VERIFY_OFF && !work->cluster)
    TRY(gemm_compare_product(rig, work, trials, GEMM_BLOCK_TRIAL), done);
  if (!trials->fault[0]) {
    /* The first product is not timed. C is compared after the timed products. */
    TRY(gemm_launch(trials->exec, rig->queue, &work->matrices.on), done);
    TRY(gemm_matrices_reset(&work->matrices), done);
    TRY(gpu_sync(rig->queue), done);
    TRY(gemm_block_time(rig, work, trials->exec, trials->launches, seconds), done);
    if (!work->cluster) TRY(gemm_compare_block(rig, work, trials, GEMM_BLOCK_TRIAL), done);
  }
done:
  gemm_exec_close(trials->exec);
  trials->exec = NULL;
  if (status == STATUS_WRONG) return status;
  if (status != STATUS_OK) *seconds = DBL_MAX;
  log_drop();
  return STATUS_OK;
}

/* Runs the trials, on rank 0 only, and sets *best to the index of the fastest blocks. */
static status_t fastest(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *trials,
                        const struct candidate *candidates, int *best)
{
  const struct gemm_kernel *kernel = trials->kernel;
  int tried = 0, most = rig->placement.info.is_cpu ? TRIALS_CPU : TRIALS;
  double least = DBL_MAX;
  if (gemm_bytes(&work->problem, GEMM_C) > BYTES_LARGE) {
    *best = candidates[0].index;
    return STATUS_OK;
  }
  for (int n = 0; n < kernel->n_blocks && !trials->fault[0] && (tried < most || *best < 0); n++, tried++) {
    double seconds = DBL_MAX;
    if (candidates[n].predicted * trials->launches > HOPELESS * least) break;
    RETURN_IF_FAILED(gemm_trial(rig, work, trials, &kernel->blocks[candidates[n].index], &seconds));
    if (seconds >= least) continue;
    least = seconds;
    *best = candidates[n].index;
  }
  return STATUS_OK;
}

static status_t gemm_tune_choose(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s,
                                 int *best)
{
  const struct gemm_machine machine = gemm_run_machine(rig);
  const struct gemm_problem problem = tried(work);
  const struct gemm_kernel *kernel = s->kernel;
  const int is_short = !rig->placement.info.is_cpu && gemm_flop(&problem) < FLOP_SHORT;
  struct gemm_series trials = {.kernel = kernel, .launches = is_short ? LAUNCHES_SHORT : LAUNCHES};
  struct candidate *candidates = malloc((size_t)kernel->n_blocks * sizeof *candidates);
  if (!candidates) return STATUS_OK;
  for (int n = 0; n < kernel->n_blocks; n++)
    candidates[n] = (struct candidate){n, gemm_predict(&machine, &problem, &kernel->blocks[n]).seconds};
  qsort(candidates, (size_t)kernel->n_blocks, sizeof *candidates, by_prediction);
  status_t status = fastest(rig, work, &trials, candidates, best);
  memcpy(s->fault, trials.fault, sizeof s->fault);
  free(candidates);
  free(trials.first);
  free(trials.first_block);
  return status;
}

status_t gemm_tune(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s)
{
  const struct gemm_kernel *kernel = s->kernel;
  const struct gemm_problem problem = tried(work);
  char why[GPU_TEXT_MAX];
  int best = -1;
  status_t status = STATUS_OK;
  if (kernel->n_blocks == 0) return STATUS_OK;
  progress_begin("trying tiles of %s", kernel->name);
  if (kernel->n_blocks > 1 && rig->placement.rank == 0 &&
      gemm_kernel_fits(kernel, rig->device, &problem, why))
    status = gemm_tune_choose(rig, work, s, &best);
  status = agree_status(rig->placement.comm, status);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  RETURN_IF_FAILED(watch_bcast(rig->placement.comm, &best, 1, MPI_INT, 0, "the choice of tiles"));
  s->blocks = kernel->blocks[best < 0 ? 0 : best];
  return STATUS_OK;
}
