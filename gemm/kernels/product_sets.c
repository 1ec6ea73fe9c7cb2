/* SPDX-License-Identifier: MIT */
#include "gemm/kernels/kernels.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config.h"

#define SET(name, built) GPU_BUILT(built, gemm_kernels_##name),
static const struct gemm_kernel_set *const sets[] = {GPU_BACKENDS(SET)};

const struct gemm_kernel_set *gemm_kernels_find(const char *backend)
{
  for (size_t n = 0; n < sizeof sets / sizeof *sets; n++)
    if (sets[n] && !strcmp(sets[n]->backend, backend)) return sets[n];
  return NULL;
}

const struct gemm_kernel *gemm_kernel_find(const struct gemm_kernel_set *set, const char *name)
{
  for (int n = 0; n < set->n; n++)
    if (!strcmp(set->kernels[n]->name, name)) return set->kernels[n];
  return NULL;
}

int gemm_kernel_fits(const struct gemm_kernel *kernel, const struct gpu_device *device,
                     const struct gemm_problem *problem, char why[GPU_TEXT_MAX])
{
  why[0] = '\0';
  if (!(kernel->types & GEMM_BIT(problem->type)))
    snprintf(why, GPU_TEXT_MAX, "does not take type %s", gemm_types[problem->type].name);
  else if ((problem->trans_a || problem->trans_b) && !kernel->transposes)
    snprintf(why, GPU_TEXT_MAX, "does not take transposed matrices");
  else if (kernel->ops->fits)
    return kernel->ops->fits(kernel, device, problem, why);
  return !why[0];
}

int gemm_kernel_fits_int(const struct gemm_kernel *kernel, const struct gpu_device *device,
                         const struct gemm_problem *p, char why[GPU_TEXT_MAX])
{
  (void)kernel, (void)device;
  for (int matrix = 0; matrix < GEMM_MATRICES; matrix++)
    if (p->ld[matrix] > INT_MAX) snprintf(why, GPU_TEXT_MAX, "takes leading dimensions up to %d", INT_MAX);
  return !why[0];
}

status_t gemm_exec_open(const struct gemm_kernel *kernel, struct gpu_device *device,
                        const struct gemm_problem *problem, const struct gemm_blocks *blocks,
                        struct gemm_exec **opened)
{
  char why[GPU_TEXT_MAX];
  if (!gemm_kernel_fits(kernel, device, problem, why))
    return log_fail(STATUS_ENVIRONMENT, "kernel %s %s", kernel->name, why);
  struct gemm_exec *exec = calloc(1, sizeof *exec);
  if (!exec) return log_fail(STATUS_ENVIRONMENT, "out of host memory for kernel %s", kernel->name);
  exec->kernel = kernel;
  exec->device = device;
  exec->problem = *problem;
  if (blocks || kernel->n_blocks) exec->blocks = blocks ? *blocks : kernel->blocks[0];
  status_t status = kernel->ops->open ? kernel->ops->open(exec) : STATUS_OK;
  if (status != STATUS_OK) {
    gemm_exec_close(exec);
    return status;
  }
  *opened = exec;
  return STATUS_OK;
}

void gemm_exec_close(struct gemm_exec *exec)
{
  if (!exec) return;
  if (exec->kernel->ops->close) exec->kernel->ops->close(exec);
  free(exec);
}
