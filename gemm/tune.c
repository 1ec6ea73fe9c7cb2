/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gemm/tune.h"

#include <float.h>
#include <stdlib.h>

#include "base/log.h"
#include "comm/watch.h"

/* The model is rarely that wrong. OpenCL on a CPU compiles for seconds. */
#define TRIALS     8
#define TRIALS_CPU 2
#define LAUNCHES   3

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

/* Seconds of a product with those blocks, after one that is not counted; DBL_MAX where they do not run. */
static double trial(struct gemm_run *run, const struct gemm_kernel *kernel, const struct gemm_blocks *blocks)
{
  struct gpu_event *begin = NULL, *end = NULL;
  struct gemm_exec *exec = NULL;
  double seconds = DBL_MAX;
  status_t status;
  log_mute(1);
  TRY(gemm_exec_open(kernel, run->device, &run->problem, blocks, &exec), done);
  TRY(gpu_event_create(run->device, &begin), done);
  TRY(gpu_event_create(run->device, &end), done);
  TRY(gemm_launch(exec, run->queue, &run->matrices.on), done);
  TRY(gpu_sync(run->queue), done);
  TRY(gpu_record(begin, run->queue), done);
  for (int n = 0; n < LAUNCHES; n++) TRY(gemm_launch(exec, run->queue, &run->matrices.on), done);
  TRY(gpu_record(end, run->queue), done);
  TRY(gpu_sync(run->queue), done);
  if (gpu_elapsed(begin, end, &seconds) != STATUS_OK) seconds = DBL_MAX;
done:
  log_mute(0);
  gpu_event_destroy(end);
  gpu_event_destroy(begin);
  gemm_exec_close(exec);
  return seconds;
}

/* Rank 0 tries, the others follow. */
static int fastest(struct gemm_run *run, const struct gemm_kernel *kernel, const struct candidate *candidates)
{
  int best = -1, tried = 0;
  int most = run->placement.info.is_cpu ? TRIALS_CPU : TRIALS;
  double least = DBL_MAX;
  for (int n = 0; n < kernel->n_blocks && (tried < most || best < 0); n++, tried++) {
    double seconds = trial(run, kernel, &kernel->blocks[candidates[n].index]);
    if (seconds >= least) continue;
    least = seconds;
    best = candidates[n].index;
  }
  return best;
}

static int choose(struct gemm_run *run, const struct gemm_kernel *kernel)
{
  const struct gemm_machine machine = gemm_run_machine(run);
  struct candidate *candidates = malloc((size_t)kernel->n_blocks * sizeof *candidates);
  if (!candidates) return 0;
  for (int n = 0; n < kernel->n_blocks; n++)
    candidates[n] = (struct candidate){n, gemm_predict(&machine, &run->problem, &kernel->blocks[n]).seconds};
  qsort(candidates, (size_t)kernel->n_blocks, sizeof *candidates, by_prediction);
  int best = fastest(run, kernel, candidates);
  free(candidates);
  return best;
}

status_t gemm_tune(struct gemm_run *run, struct gemm_series *s)
{
  const struct gemm_kernel *kernel = s->kernel;
  char why[GPU_TEXT_MAX];
  int best = 0;
  if (kernel->n_blocks == 0) return STATUS_OK;
  if (kernel->n_blocks > 1 && run->placement.rank == 0 &&
      gemm_kernel_fits(kernel, run->device, &run->problem, why))
    best = choose(run, kernel);
  RETURN_IF_FAILED(watch_bcast(run->placement.comm, &best, 1, MPI_INT, 0, "the choice of tiles"));
  s->blocks = kernel->blocks[best < 0 ? 0 : best];
  return STATUS_OK;
}
