/* SPDX-License-Identifier: MIT */
#include "gemm/run/ladder.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "gemm/measure/measure.h"
#include "gemm/report/report.h"
#include "gemm/tune/choose.h"
#include "gemm/tune/tune.h"
#include "suite/program.h"
#include "suite/progress.h"

/* The sizes of the seminar's plots; a CPU takes minutes for the larger ones. */
static const struct gemm_sizes sizes_gpu = {.size = {{1024, 1024, 1024},
                                                     {2048, 2048, 2048},
                                                     {3072, 3072, 3072},
                                                     {4096, 4096, 4096},
                                                     {5120, 5120, 5120},
                                                     {6144, 6144, 6144},
                                                     {7168, 7168, 7168},
                                                     {8192, 8192, 8192}},
                                            .n = 8};
static const struct gemm_sizes sizes_cpu = {.size = {{256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}},
                                            .n = 3};

/* None: one size, as asked for or by default. */
static const struct gemm_sizes *gemm_ladder_sizes(const struct gemm_run *run)
{
  static const struct gemm_sizes one = {.n = 0};
  if (run->config.sizes.n) return &run->config.sizes;
  if (run->config.size_given || run->placement.info.emulated) return &one;
  return run->placement.info.is_cpu ? &sizes_cpu : &sizes_gpu;
}

static status_t gemm_ladder_build(struct gemm_run *run, int n)
{
  if ((run->ladder = calloc(1, sizeof *run->ladder)) &&
      (run->ladder->sizes = calloc((size_t)n, sizeof *run->ladder->sizes)))
    return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "out of host memory for the ladder");
}

/* What was found moves from the run to the ladder; matrices go. */
static void size_keep(struct gemm_run *run)
{
  run->ladder->sizes[run->ladder->n++] =
      (struct gemm_ladder_size){.problem = run->problem, .series = run->series, .n_series = run->n_series};
  run->series = NULL;
  run->n_series = 0;
  gemm_problem_close(run);
}

static status_t size_climb(struct gemm_run *run, const int64_t size[3])
{
  status_t status = agree_status(run->placement.comm, gemm_problem_open(run, size));
  for (int s = 0; status == STATUS_OK && s < run->n_series; s++) status = gemm_tune(run, &run->series[s]);
  if (status == STATUS_OK) status = gemm_measure(run, run->series, run->n_series, run->config.seconds);
  if (status == STATUS_OK || status == STATUS_WRONG) size_keep(run);
  return status;
}

/* A signal between two sizes ends the ladder before the next one is prepared. */
static status_t stop_agree(struct gemm_run *run)
{
  int mine = run->partial || stop_asked();
  return watch_allreduce(run->placement.comm, &mine, &run->partial, 1, MPI_INT, MPI_MAX, "the next size");
}

status_t gemm_ladder(struct gemm_run *run)
{
  const struct gemm_sizes *sizes = gemm_ladder_sizes(run);
  int n = sizes->n ? sizes->n : 1;
  /* Sizes by default end where memory does. */
  while (!run->config.sizes.n && n > 1 && !gemm_size_fits(run, sizes->size[n - 1])) n--;
  RETURN_IF_FAILED(agree_status(run->placement.comm, gemm_ladder_build(run, n)));
  for (int s = 0; s < n && !run->partial; s++) {
    if (n > 1) progress_part("size %d of %d", s + 1, n);
    status_t status = size_climb(run, sizes->n ? sizes->size[s] : NULL);
    if (status != STATUS_OK && status != STATUS_WRONG) return status;
    run->verdict = status_worst(run->verdict, status);
    if (run->placement.rank == 0) gemm_ladder_sizes_text(run, program_out(run->config.json));
    if (s + 1 < n) RETURN_IF_FAILED(stop_agree(run));
  }
  return run->verdict;
}

void gemm_ladder_free(struct gemm_run *run)
{
  struct gemm_ladder *l = run->ladder;
  if (!l) return;
  for (int n = 0; n < l->n; n++) {
    for (int s = 0; s < l->sizes[n].n_series; s++) free(l->sizes[n].series[s].samples);
    free(l->sizes[n].series);
  }
  free(l->sizes);
  free(l);
  run->ladder = NULL;
}
