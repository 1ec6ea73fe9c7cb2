/* SPDX-License-Identifier: MIT */
#include "gemm/run/run.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "gemm/measure/measure.h"
#include "gemm/report/report.h"
#include "gemm/tune/tune.h"
#include "suite/program.h"
#include "suite/progress.h"

/* The default sizes of a ladder. A CPU has fewer sizes, because larger ones would take minutes. */
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

/* Returns the sizes of --sizes or the defaults. With --size or an emulator there is a single size,
 * and n is 0. */
static const struct gemm_sizes *gemm_ladder_sizes(const struct gemm_rig *rig)
{
  static const struct gemm_sizes one = {.n = 0};
  if (rig->config.sizes.n) return &rig->config.sizes;
  if (rig->config.size_given || rig->placement.info.emulated) return &one;
  return rig->placement.info.is_cpu ? &sizes_cpu : &sizes_gpu;
}

static status_t gemm_ladder_build(struct gemm_result *result, int n)
{
  if ((result->ladder = calloc(1, sizeof *result->ladder)) &&
      (result->ladder->sizes = calloc((size_t)n, sizeof *result->ladder->sizes)))
    return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "out of host memory for the ladder");
}

/* Measures one size, moves its series from the run to the ladder, and frees its matrices.
 * sizes_left, for the progress display, counts this size and the later ones. */
static status_t size_climb(struct gemm_run *run, const int64_t size[3], int sizes_left)
{
  struct gemm_result *r = &run->result;
  RETURN_IF_FAILED(agree_status(run->rig.placement.comm, gemm_problem_open(run, size)));
  gemm_run_expect(run, sizes_left);
  for (int s = 0; s < r->n_series; s++) RETURN_IF_FAILED(gemm_tune(&run->rig, &run->work, &r->series[s]));
  status_t status = gemm_measure(run, r->series, r->n_series, run->rig.config.seconds);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  r->ladder->sizes[r->ladder->n++] =
      (struct gemm_ladder_size){.problem = run->work.problem, .series = r->series, .n_series = r->n_series};
  r->series = NULL;
  r->n_series = 0;
  gemm_problem_close(&run->work, r);
  return status;
}

status_t gemm_ladder(struct gemm_run *run)
{
  const struct gemm_sizes *sizes = gemm_ladder_sizes(&run->rig);
  int n = sizes->n ? sizes->n : 1;
  while (!run->rig.config.sizes.n && n > 1 && !gemm_size_fits(&run->rig, sizes->size[n - 1])) n--;
  RETURN_IF_FAILED(agree_status(run->rig.placement.comm, gemm_ladder_build(&run->result, n)));
  for (int s = 0; s < n && !run->result.partial; s++) {
    if (n > 1) progress_part("size %d of %d", s + 1, n);
    status_t status = size_climb(run, sizes->n ? sizes->size[s] : NULL, n - s);
    if (status != STATUS_OK && status != STATUS_WRONG) return status;
    run->result.verdict = status_worst(run->result.verdict, status);
    if (run->rig.placement.rank == 0)
      gemm_ladder_sizes_text(&run->rig, &run->result, program_out(run->rig.config.json));
    if (s + 1 == n) break;
    /* After a signal, the next size is not prepared. */
    const int mine = run->result.partial || stop_asked();
    RETURN_IF_FAILED(watch_allreduce(run->rig.placement.comm, &mine, &run->result.partial, 1, MPI_INT,
                                     MPI_MAX, "the next size"));
  }
  return run->result.verdict;
}

void gemm_ladder_free(struct gemm_result *result)
{
  struct gemm_ladder *l = result->ladder;
  if (!l) return;
  for (int n = 0; n < l->n; n++) {
    for (int s = 0; s < l->sizes[n].n_series; s++) free(l->sizes[n].series[s].samples);
    free(l->sizes[n].series);
  }
  free(l->sizes);
  free(l);
  result->ladder = NULL;
}
