/* SPDX-License-Identifier: MIT */
#include "gemm/tune/tune.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "suite/progress.h"

#define SIZE_GPU 4096
#define SIZE_CPU 1024
/* Default m, n and k on an emulator, which is slow: the size of the QPU's earlier programs. */
#define SIZE_EMULATED                                                                                        \
  {                                                                                                          \
    96, 3025, 363                                                                                            \
  }
/* Estimated times within this factor count as equal, because an estimate runs only a part of the
 * product. */
#define ESTIMATES_EQUAL 1.03
/* Seconds per block. A GPU at its power limit changes its clock within tens of milliseconds: on an
 * H100, 0.05 s blocks of one kernel differed by 5 to 10%, 0.005 s blocks by less than 1%. On a CPU,
 * longer blocks average out interrupts. */
#define BLOCK_ON_GPU 0.005
#define BLOCK_ON_CPU 0.05

status_t gemm_place(struct gemm_rig *rig)
{
  struct placement *p = &rig->placement;
  const struct gemm_config *c = &rig->config;
  RETURN_IF_FAILED(rank_place(p, c->backend, c->device, c->binding, c->expect, &rig->device));
  if (c->qpus) rig->device->info.compute_units = p->info.compute_units = (int)c->qpus;
  if (rig->config.block == 0) rig->config.block = p->info.is_cpu ? BLOCK_ON_CPU : BLOCK_ON_GPU;
  status_t status = gpu_queue_create(rig->device, GPU_NORMAL, &rig->queue);
  if (status == STATUS_OK) status = gpu_event_create(rig->device, &rig->begin);
  if (status == STATUS_OK) status = gpu_event_create(rig->device, &rig->end);
  RETURN_IF_FAILED(agree_status(p->comm, status));
  return memory_measure(p->comm, rig->device, p->shared + 1, &rig->memory);
}

status_t gemm_ceilings_measure(struct gemm_rig *rig)
{
  const struct gemm_kernel_set *set = gemm_kernels_find(rig->placement.backend->name);
  if (!set || !set->ceilings || rig->placement.info.emulated) return STATUS_OK;
  progress_begin("measuring the peak");
  return set->ceilings(rig->device, rig->queue, (enum gemm_type)rig->config.type, &rig->ceilings);
}

/* Bytes of rig->memory that a problem needs; on a CPU the host's copies count too. */
static uint64_t memory_needed(const struct gemm_rig *rig, const struct gemm_problem *problem)
{
  uint64_t matrices = gemm_matrices_bytes(problem);
  return rig->placement.info.is_cpu ? 2 * matrices + gemm_bytes(problem, GEMM_C) : matrices;
}

int gemm_size_fits(const struct gemm_rig *rig, const int64_t size[3])
{
  struct gemm_problem problem;
  log_mute(1);
  status_t status = gemm_config_problem(&rig->config, size, &problem);
  log_mute(0);
  return status == STATUS_OK && memory_needed(rig, &problem) <= rig->memory.usable_least;
}

static status_t problem_choose(const struct gemm_rig *rig, struct gemm_work *work, const int64_t wanted[3])
{
  int64_t side = rig->placement.info.is_cpu ? SIZE_CPU : SIZE_GPU, size[3] = {side, side, side};
  const int64_t emulated[3] = SIZE_EMULATED;
  char what[96];
  if (rig->placement.info.emulated) memcpy(size, emulated, sizeof size);
  if (rig->config.size_given) memcpy(size, rig->config.size, sizeof size);
  if (wanted) memcpy(size, wanted, sizeof size);
  RETURN_IF_FAILED(gemm_config_problem(&rig->config, size, &work->problem));
  if (rig->config.distributed) return gemm_cluster_cut(rig, work);
  snprintf(what, sizeof what, "size %" PRId64 "x%" PRId64 "x%" PRId64, size[0], size[1], size[2]);
  return memory_check(&rig->memory, memory_needed(rig, &work->problem), what, "; use a smaller --size");
}

/* Returns a product's estimated seconds: INFINITY if the kernel cannot run it, 0 without a model,
 * DBL_MAX if the estimate fails. A kernel whose estimate fails is chosen if there is no other, and
 * reports the cause when it is opened. */
static double seconds_estimated(const struct gemm_rig *rig, const struct gemm_kernel *kernel,
                                const struct gemm_problem *problem, char why[GPU_TEXT_MAX])
{
  struct gemm_exec *exec = NULL;
  double seconds;
  if (!gemm_kernel_fits(kernel, rig->device, problem, why)) return INFINITY;
  if (!kernel->ops->estimate || !rig->placement.info.emulated) return 0;
  status_t status = gemm_exec_open(kernel, rig->device, problem, NULL, &exec);
  if (status == STATUS_OK) status = kernel->ops->estimate(exec, &seconds);
  gemm_exec_close(exec);
  if (status == STATUS_OK) return seconds;
  log_drop();
  return DBL_MAX;
}

/* Returns the kernel with the least estimated time, or the highest rung of several equal ones. If
 * no kernel supports the problem, returns NULL and the last kernel's reason in \a why. */
static const struct gemm_kernel *kernel_default(const struct gemm_rig *rig, const struct gemm_kernel_set *set,
                                                const struct gemm_problem *problem, char why[GPU_TEXT_MAX])
{
  const struct gemm_kernel *best = NULL;
  double seconds[set->n], least = INFINITY;
  for (int k = 0; k < set->n; k++) {
    const struct gemm_kernel *kernel = set->kernels[k];
    seconds[k] = kernel->is_reference ? INFINITY : seconds_estimated(rig, kernel, problem, why);
    if (kernel->rung == 0 && seconds[k] == 0) seconds[k] = INFINITY;
    least = fmin(least, seconds[k]);
  }
  for (int k = 0; k < set->n; k++)
    if (seconds[k] < INFINITY && seconds[k] <= ESTIMATES_EQUAL * least &&
        (!best || set->kernels[k]->rung > best->rung))
      best = set->kernels[k];
  return best;
}

static status_t gemm_data_check(const struct gemm_rig *rig, const struct gemm_kernel *kernel)
{
  if (rig->config.data != GEMM_SPECIAL || !kernel->finite) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--data special: backend %s has neither NaN nor infinities in its arithmetic",
                  rig->placement.backend->name);
}

/* Returns the problem for which a kernel is chosen. The ranks' parts of one product differ by a row
 * or a column; the largest is used, so that all ranks choose the same kernel. */
static struct gemm_problem problem_of_kernel(const struct gemm_rig *rig, const struct gemm_work *work)
{
  if (!work->cluster) return work->problem;
  const int64_t ranks = rig->placement.ranks;
  struct gemm_problem p = gemm_cluster_part(work->cluster, 0, (const int[2]){0});
  p.m = (work->cluster->whole.m + ranks - 1) / ranks;
  p.n = (work->cluster->whole.n + ranks - 1) / ranks;
  return p;
}

static status_t gemm_kernel_choose(const struct gemm_rig *rig, struct gemm_work *work,
                                   const struct gemm_kernel **kernel)
{
  const char *backend = rig->placement.backend->name, *asked = rig->config.kernel;
  const struct gemm_kernel_set *set = gemm_kernels_find(backend);
  const struct gemm_problem problem = problem_of_kernel(rig, work);
  char why[GPU_TEXT_MAX];
  if (!set) return log_fail(STATUS_ENVIRONMENT, "backend %s has no kernels for matrix products", backend);
  if (!asked) {
    if ((*kernel = kernel_default(rig, set, &problem, why))) return gemm_data_check(rig, *kernel);
    return log_fail(STATUS_ENVIRONMENT, "backend %s has no kernel for this product: its last one %s", backend,
                    why);
  }
  if (!(*kernel = gemm_kernel_find(set, asked)))
    return log_fail(STATUS_USAGE, "--kernel %s: backend %s has no such kernel; --list shows them", asked,
                    backend);
  if (gemm_kernel_fits(*kernel, rig->device, &problem, why)) return gemm_data_check(rig, *kernel);
  return log_fail(STATUS_ENVIRONMENT, "--kernel %s: it %s", asked, why);
}

static void gemm_series_add(struct gemm_work *work, struct gemm_result *result,
                            const struct gemm_kernel *kernel)
{
  struct gemm_series *s = &result->series[result->n_series++];
  s->kernel = kernel;
  s->flop = gemm_flop(&work->problem);
}

/* Chooses the ladder's rungs from the lowest up, or the one kernel; then the reference libraries
 * for the device. */
static status_t series_choose(struct gemm_run *run)
{
  const struct gemm_kernel_set *set = gemm_kernels_find(run->rig.placement.backend->name);
  const struct gemm_kernel *kernel = NULL;
  char why[GPU_TEXT_MAX];
  RETURN_IF_FAILED(gemm_kernel_choose(&run->rig, &run->work, &kernel));
  if (!(run->result.series = calloc((size_t)set->n + 1, sizeof *run->result.series)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for results");
  for (int rung = 1; run->rig.config.ladder && rung <= set->n; rung++)
    for (int k = 0; k < set->n; k++)
      if (set->kernels[k]->rung == rung && !set->kernels[k]->is_reference)
        gemm_series_add(&run->work, &run->result, set->kernels[k]);
  if (!run->rig.config.ladder) gemm_series_add(&run->work, &run->result, kernel);
  for (int k = 0; k < set->n && !run->rig.config.no_reference && !run->work.cluster; k++)
    if (set->kernels[k]->is_reference && set->kernels[k] != kernel &&
        gemm_kernel_fits(set->kernels[k], run->rig.device, &run->work.problem, why))
      gemm_series_add(&run->work, &run->result, set->kernels[k]);
  return STATUS_OK;
}

status_t gemm_problem_open(struct gemm_run *run, const int64_t size[3])
{
  struct gemm_matrices *m = &run->work.matrices;
  struct gemm_place places[GEMM_MATRICES];
  run->work.damage[0] = '\0';
  progress_begin("computing the matrices and the reference product");
  RETURN_IF_FAILED(agree_status(run->rig.placement.comm, problem_choose(&run->rig, &run->work, size)));
  RETURN_IF_FAILED(series_choose(run));
  if (run->work.cluster) gemm_cluster_places(run->work.cluster, places);
  RETURN_IF_FAILED(gemm_matrices_open(
      m, run->rig.device, run->rig.queue, &run->work.problem, (enum gemm_data)run->rig.config.data,
      run->work.cluster ? 0 : (uint64_t)run->rig.placement.rank, run->work.cluster ? places : NULL));
  return gemm_reference_open(&run->work.problem, (enum gemm_verify)run->rig.config.verify, m->host[GEMM_A],
                             m->host[GEMM_B], m->host[GEMM_C], &run->work.reference);
}

void gemm_problem_close(struct gemm_work *work, struct gemm_result *result)
{
  for (int s = 0; s < result->n_series; s++) free(result->series[s].samples);
  free(result->series);
  result->series = NULL;
  result->n_series = 0;
  gemm_reference_close(work->reference);
  work->reference = NULL;
  gemm_cluster_free(work);
  if (work->matrices.device) gemm_matrices_close(&work->matrices);
}
