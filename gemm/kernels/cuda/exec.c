/* SPDX-License-Identifier: MIT */
/* Host side of the CUDA set: prepares and launches one product. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "gemm/kernels/cuda/cuda_gemm.h"
#include "gpu/cuda/cuda_device.h"

/* Largest extent; indices of the last tile are ints and may exceed the extent. */
#define EXTENT_MOST (INT_MAX - 511)

struct cuda_gemm_state {
  struct cuda_job job; /* matrices not set */
  struct cuda_chip chip;
  struct gpu_mem work;
};

static const struct cudaDeviceProp *properties_of(const struct gpu_device *device)
{
  return &((const struct cuda_device *)device)->properties;
}

static int chip_of(const struct gpu_device *device)
{
  return 10 * properties_of(device)->major + properties_of(device)->minor;
}

static int cuda_gemm_code_of(const struct cuda_operation *operation, const struct gpu_device *device)
{
  const void *kernel = operation->kernel ? operation->kernel() : fp32_naive.describe(NULL, NULL, NULL).kernel;
  int chip = chip_of(device), code = 0;
  if (cuda_code_of(kernel, &code) == cudaSuccess) return code < chip ? code : chip;
  cudaGetLastError();
  return chip;
}

static int cuda_gemm_fits(const struct gemm_kernel *kernel, const struct gpu_device *device,
                          const struct gemm_problem *p, char why[GPU_TEXT_MAX])
{
  const struct cuda_operation *operation = kernel->variant;
  const int chip = chip_of(device), only = operation->family;
  if (only ? chip != operation->chip : chip < operation->chip)
    snprintf(why, GPU_TEXT_MAX, "needs sm_%d%s, this is sm_%d (%.60s)", operation->chip,
             only ? "a (H100, H200)" : " or later", chip, device->info.name);
  else if (!operation->built)
    snprintf(why, GPU_TEXT_MAX,
             "was not built for sm_%da: configure --with-cuda-arch=%d with CUDA 12 or later", chip, chip);
  else if (cuda_gemm_code_of(operation, device) < operation->chip)
    snprintf(why, GPU_TEXT_MAX, "was not built for sm_%d or later: configure --with-cuda-arch=%d",
             operation->chip, chip);
  else if (p->m > EXTENT_MOST || p->n > EXTENT_MOST || p->k > EXTENT_MOST)
    snprintf(why, GPU_TEXT_MAX, "takes extents up to %d", EXTENT_MOST);
  else if (operation->rows_most && p->m > operation->rows_most)
    snprintf(why, GPU_TEXT_MAX, "takes up to %d rows", operation->rows_most);
  else
    return 1;
  return 0;
}

static status_t cuda_gemm_check(const struct gemm_exec *exec, cudaError_t error)
{
  char text[96];
  if (error == cudaSuccess) return STATUS_OK;
  snprintf(text, sizeof text, "CUDA kernel %s", exec->kernel->name);
  return cuda_fail(error, text);
}

static struct cuda_job job_of(const struct gemm_problem *p)
{
  return (struct cuda_job){.type = p->type,
                           .m = (int)p->m,
                           .n = (int)p->n,
                           .k = (int)p->k,
                           .lda = p->ld[GEMM_A],
                           .ldb = p->ld[GEMM_B],
                           .ldc = p->ld[GEMM_C],
                           .trans_a = p->trans_a,
                           .trans_b = p->trans_b,
                           .alpha = p->alpha,
                           .beta = p->beta};
}

static status_t blocks_choose(struct gemm_exec *exec, const struct cuda_gemm_state *s)
{
  const struct cuda_operation *operation = exec->kernel->variant;
  if (!operation->choose) return STATUS_OK;
  cudaError_t error = operation->choose(&s->job, exec->problem.type, &s->chip, &exec->blocks);
  if (error != cudaErrorInvalidConfiguration) return cuda_gemm_check(exec, error);
  cudaGetLastError();
  return log_fail(STATUS_ENVIRONMENT, "kernel %s has no block sizes that fit this problem on %s",
                  exec->kernel->name, exec->device->info.name);
}

static status_t cuda_gemm_open(struct gemm_exec *exec)
{
  const struct cuda_operation *operation = exec->kernel->variant;
  struct cuda_gemm_state *s = exec->state = calloc(1, sizeof *s);
  if (!s) return log_fail(STATUS_ENVIRONMENT, "out of host memory for kernel %s", exec->kernel->name);
  RETURN_IF_FAILED(cuda_use(exec->device));
  s->job = job_of(&exec->problem);
  s->chip = (struct cuda_chip){.number = cuda_gemm_code_of(operation, exec->device),
                               .processors = exec->device->info.compute_units - exec->blocks.spare,
                               .shared_bytes = (int)properties_of(exec->device)->sharedMemPerBlockOptin};
  RETURN_IF_FAILED(blocks_choose(exec, s));
  size_t bytes = operation->work ? operation->work(&s->job, exec->problem.type, &s->chip, &exec->blocks) : 0;
  if (bytes > 0) {
    RETURN_IF_FAILED(gpu_alloc(exec->device, bytes, &s->work));
    RETURN_IF_FAILED(cuda_gemm_check(exec, cudaMemset(s->work.handle, 0, bytes)));
    /* the clear ran in the default stream, for which queues do not wait */
    RETURN_IF_FAILED(cuda_gemm_check(exec, cudaStreamSynchronize(NULL)));
  }
  s->job.work = s->work.handle;
  if (!operation->describe) return STATUS_OK;
  struct cuda_launch launch = operation->describe(&s->job, &s->chip, &exec->blocks);
  return cuda_gemm_check(
      exec,
      cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, launch.shared_bytes));
}

static void cuda_gemm_close(struct gemm_exec *exec)
{
  struct cuda_gemm_state *s = exec->state;
  if (s) gpu_free(exec->device, &s->work);
  free(s);
}

static status_t cuda_gemm_launch(struct gemm_exec *exec, struct gpu_queue *queue,
                                 const struct gemm_operands *operands)
{
  const struct cuda_operation *operation = exec->kernel->variant;
  const struct cuda_gemm_state *s = exec->state;
  struct cuda_job job = s->job;
  job.a = operands->a.handle;
  job.b = operands->b.handle;
  job.c = operands->c.handle;
  RETURN_IF_FAILED(cuda_use(exec->device));
  return cuda_gemm_check(
      exec, operation->launch(&job, exec->problem.type, &s->chip, &exec->blocks, cuda_queue_handle(queue)));
}

static void cuda_gemm_resources(const struct gemm_exec *exec, struct gemm_resources *r)
{
  const struct cuda_operation *operation = exec->kernel->variant;
  const struct cuda_gemm_state *s = exec->state;
  struct cuda_launch l = operation->describe(&s->job, &s->chip, &exec->blocks);
  struct cudaFuncAttributes attributes;
  int blocks = 0;
  if (cudaFuncGetAttributes(&attributes, l.kernel) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, l.kernel, l.threads, (size_t)l.shared_bytes) !=
          cudaSuccess) {
    cudaGetLastError();
    return;
  }
  r->threads = l.threads;
  r->registers = attributes.numRegs;
  r->local_bytes = (int)attributes.sharedSizeBytes + l.shared_bytes;
  r->occupancy = (double)blocks * l.threads / properties_of(exec->device)->maxThreadsPerMultiProcessor;
}

const struct gemm_ops gemm_cuda_ops = {.open = cuda_gemm_open,
                                       .close = cuda_gemm_close,
                                       .launch = cuda_gemm_launch,
                                       .resources = cuda_gemm_resources};

const struct gemm_ops gemm_cuda_tensor_ops = {
    .fits = cuda_gemm_fits, .open = cuda_gemm_open, .close = cuda_gemm_close, .launch = cuda_gemm_launch};
