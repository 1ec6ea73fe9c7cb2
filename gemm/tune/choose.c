/* SPDX-License-Identifier: MIT */
#include "gemm/tune/choose.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "gemm/tune/cluster.h"
#include "suite/progress.h"

#define SIZE_GPU 4096
#define SIZE_CPU 1024
/* On an emulator, a product that takes it no long time: the one of the QPU's earlier programs. */
#define SIZE_EMULATED                                                                                        \
  {                                                                                                          \
    96, 3025, 363                                                                                            \
  }
/* Seconds of a block. A GPU at its power limit changes its clock within tens of milliseconds: on an
 * H100 blocks of 0.05 s of one kernel differed by 5 to 10%, of 0.005 s by less than 1%. A CPU's
 * interrupts are spread over longer ones. */
#define BLOCK_ON_GPU 0.005
#define BLOCK_ON_CPU 0.05

status_t gemm_place(struct gemm_run *run)
{
  struct placement *p = &run->placement;
  const struct gemm_config *c = &run->config;
  RETURN_IF_FAILED(rank_place(p, c->backend, c->device, c->binding, c->expect, &run->device));
  if (run->config.block == 0) run->config.block = p->info.is_cpu ? BLOCK_ON_CPU : BLOCK_ON_GPU;
  status_t status = gpu_queue_create(run->device, GPU_NORMAL, &run->queue);
  if (status == STATUS_OK) status = gpu_event_create(run->device, &run->begin);
  if (status == STATUS_OK) status = gpu_event_create(run->device, &run->end);
  RETURN_IF_FAILED(agree_status(p->comm, status));
  return memory_measure(p->comm, run->device, p->shared + 1, &run->memory);
}

status_t gemm_ceilings_measure(struct gemm_run *run)
{
  const struct gemm_kernel_set *set = gemm_kernels_find(run->placement.backend->name);
  if (!set || !set->ceilings || run->placement.info.emulated) return STATUS_OK;
  progress_begin("measuring the peak");
  return set->ceilings(run->device, run->queue, (enum gemm_type)run->config.type, &run->ceilings);
}

/* What a problem takes of run->memory: on a CPU the host's copies too. */
static uint64_t memory_needed(const struct gemm_run *run, const struct gemm_problem *problem)
{
  uint64_t matrices = gemm_matrices_bytes(problem);
  return run->placement.info.is_cpu ? 2 * matrices + gemm_bytes(problem, GEMM_C) : matrices;
}

int gemm_size_fits(const struct gemm_run *run, const int64_t size[3])
{
  struct gemm_problem problem;
  log_mute(1);
  status_t status = gemm_config_problem(&run->config, size, &problem);
  log_mute(0);
  return status == STATUS_OK && memory_needed(run, &problem) <= run->memory.usable_least;
}

static status_t gemm_fit_check(const struct gemm_run *run)
{
  const struct gemm_problem *p = &run->problem;
  char what[96];
  snprintf(what, sizeof what, "size %" PRId64 "x%" PRId64 "x%" PRId64, p->m, p->n, p->k);
  return memory_check(&run->memory, memory_needed(run, p), what, "; use a smaller --size");
}

static status_t problem_choose(struct gemm_run *run, const int64_t wanted[3])
{
  int64_t side = run->placement.info.is_cpu ? SIZE_CPU : SIZE_GPU, size[3] = {side, side, side};
  const int64_t emulated[3] = SIZE_EMULATED;
  if (run->placement.info.emulated) memcpy(size, emulated, sizeof size);
  if (run->config.size_given) memcpy(size, run->config.size, sizeof size);
  if (wanted) memcpy(size, wanted, sizeof size);
  RETURN_IF_FAILED(gemm_config_problem(&run->config, size, &run->problem));
  return run->config.distributed ? gemm_cluster_cut(run) : gemm_fit_check(run);
}

/* The highest rung that can do the problem here, or NULL with why the last one tried cannot. */
static const struct gemm_kernel *kernel_default(struct gemm_run *run, const struct gemm_kernel_set *set,
                                                const struct gemm_problem *problem, char why[GPU_TEXT_MAX])
{
  const struct gemm_kernel *best = NULL;
  for (int k = 0; k < set->n; k++) {
    const struct gemm_kernel *kernel = set->kernels[k];
    if (kernel->rung == 0 || kernel->is_reference || (best && kernel->rung < best->rung)) continue;
    if (gemm_kernel_fits(kernel, run->device, problem, why)) best = kernel;
  }
  return best;
}

static status_t gemm_data_check(const struct gemm_run *run, const struct gemm_kernel *kernel)
{
  if (run->config.data != GEMM_SPECIAL || !kernel->finite) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--data special: backend %s has neither NaN nor infinities in its arithmetic",
                  run->placement.backend->name);
}

static status_t gemm_kernel_choose(struct gemm_run *run, const struct gemm_kernel **kernel)
{
  const char *backend = run->placement.backend->name, *asked = run->config.kernel;
  const struct gemm_kernel_set *set = gemm_kernels_find(backend);
  const struct gemm_problem problem =
      run->cluster ? gemm_cluster_part(run->cluster, 0, (const int[2]){0}) : run->problem;
  char why[GPU_TEXT_MAX];
  if (!set) return log_fail(STATUS_ENVIRONMENT, "backend %s has no kernels for matrix products", backend);
  if (!asked) {
    if ((*kernel = kernel_default(run, set, &problem, why))) return gemm_data_check(run, *kernel);
    return log_fail(STATUS_ENVIRONMENT, "backend %s has no kernel for this product: its last one %s", backend,
                    why);
  }
  if (!(*kernel = gemm_kernel_find(set, asked)))
    return log_fail(STATUS_USAGE, "--kernel %s: backend %s has no such kernel; --list shows them", asked,
                    backend);
  if (gemm_kernel_fits(*kernel, run->device, &problem, why)) return gemm_data_check(run, *kernel);
  return log_fail(STATUS_ENVIRONMENT, "--kernel %s: it %s", asked, why);
}

static void gemm_series_add(struct gemm_run *run, const struct gemm_kernel *kernel)
{
  struct gemm_series *s = &run->series[run->n_series++];
  s->kernel = kernel;
  s->flop = gemm_flop(&run->problem);
}

/* The ladder's rungs from the lowest up, or the one kernel; then the reference libraries for
 * such a device. */
static status_t series_choose(struct gemm_run *run)
{
  const struct gemm_kernel_set *set = gemm_kernels_find(run->placement.backend->name);
  const struct gemm_kernel *kernel = NULL;
  char why[GPU_TEXT_MAX];
  RETURN_IF_FAILED(gemm_kernel_choose(run, &kernel));
  if (!(run->series = calloc((size_t)set->n + 1, sizeof *run->series)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for results");
  for (int rung = 1; run->config.ladder && rung <= set->n; rung++)
    for (int k = 0; k < set->n; k++)
      if (set->kernels[k]->rung == rung && !set->kernels[k]->is_reference)
        gemm_series_add(run, set->kernels[k]);
  if (!run->config.ladder) gemm_series_add(run, kernel);
  for (int k = 0; k < set->n && !run->config.no_reference && !run->cluster; k++)
    if (set->kernels[k]->is_reference && set->kernels[k] != kernel &&
        gemm_kernel_fits(set->kernels[k], run->device, &run->problem, why))
      gemm_series_add(run, set->kernels[k]);
  return STATUS_OK;
}

status_t gemm_problem_open(struct gemm_run *run, const int64_t size[3])
{
  struct gemm_matrices *m = &run->matrices;
  struct gemm_place places[GEMM_MATRICES];
  run->damage[0] = '\0';
  progress_begin("computing the matrices and the reference product");
  RETURN_IF_FAILED(agree_status(run->placement.comm, problem_choose(run, size)));
  RETURN_IF_FAILED(series_choose(run));
  if (run->cluster) gemm_cluster_places(run->cluster, places);
  RETURN_IF_FAILED(
      gemm_matrices_open(m, run->device, run->queue, &run->problem, (enum gemm_data)run->config.data,
                         run->cluster ? 0 : (uint64_t)run->placement.rank, run->cluster ? places : NULL));
  return gemm_reference_open(&run->problem, (enum gemm_verify)run->config.verify, m->host[GEMM_A],
                             m->host[GEMM_B], m->host[GEMM_C], &run->reference);
}

void gemm_problem_close(struct gemm_run *run)
{
  for (int s = 0; s < run->n_series; s++) free(run->series[s].samples);
  free(run->series);
  run->series = NULL;
  run->n_series = 0;
  gemm_reference_close(run->reference);
  run->reference = NULL;
  gemm_cluster_free(run);
  if (run->device) gemm_matrices_close(&run->matrices);
}
