/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gemm/run/study.h"

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "gemm/kernels/cuda/tensor/study.h"
#include "suite/ranks.h"

/* Without CUDA there is no device to come here with. */
static status_t study_here(const struct placement *p, struct gpu_device *device, FILE *out)
{
  struct gpu_queue *queue = NULL;
  status_t status;
  TRY(gpu_queue_create(device, GPU_NORMAL, &queue), done);
  fprintf(out, "%s (%s)\n", p->info.name, p->info.arch);
#if HAVE_CUDA
  TRY(gemm_study_fragments(device, queue, out), done);
#endif
done:
  gpu_queue_destroy(queue);
  return status;
}

status_t gemm_study_run(struct placement *p, const struct gemm_config *config, FILE *out)
{
  struct gpu_device *device = NULL;
  status_t status = STATUS_OK;
  gemm_cmdline_ignore(config, 0);
  if (config->backend && config->backend != &gpu_backend_cuda)
    status = log_fail(STATUS_USAGE, "--backend %s: WMMA fragments are CUDA's", config->backend->name);
  RETURN_IF_FAILED(agree_status(p->comm, status));
  RETURN_IF_FAILED(
      rank_place(p, &gpu_backend_cuda, config->device, config->binding, config->expect, &device));
  status = agree_status(p->comm, p->rank == 0 ? study_here(p, device, out) : STATUS_OK);
  gpu_close(device);
  return status;
}
