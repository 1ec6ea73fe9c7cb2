/* SPDX-License-Identifier: MIT */
/* The float32 rungs of the CUDA set: host side. */
#include "gemm/kernels/cuda/fp32/fp32.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "gemm/kernels/cuda/cuda_gemm.h"
#include "gpu/cuda/cuda_device.h"

struct state {
  struct fp32_job job; /* without matrices */
  struct fp32_chip chip;
  struct gpu_mem work;
};

static const struct fp32_step *step_of(const struct gemm_exec *exec)
{
  return exec->kernel->variant;
}

static status_t check(const struct gemm_exec *exec, cudaError_t error)
{
  char text[96];
  if (error == cudaSuccess) return STATUS_OK;
  snprintf(text, sizeof text, "CUDA kernel %s", exec->kernel->name);
  return cuda_fail(error, text);
}

static struct fp32_job job_of(const struct gemm_problem *p)
{
  return (struct fp32_job){.m = (int)p->m,
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

static status_t chip_read(const struct gemm_exec *exec, struct fp32_chip *chip)
{
  const struct cudaDeviceProp *properties = &((const struct cuda_device *)exec->device)->properties;
  int code = 0;
  RETURN_IF_FAILED(check(exec, cuda_code_of(fp32_naive.describe(NULL, NULL, NULL).kernel, &code)));
  *chip = (struct fp32_chip){.number = code,
                             .processors = properties->multiProcessorCount,
                             .shared_bytes = (int)properties->sharedMemPerBlockOptin};
  return STATUS_OK;
}

static status_t blocks_choose(struct gemm_exec *exec, const struct state *s)
{
  const struct fp32_step *step = step_of(exec);
  if (!step->choose) return STATUS_OK;
  cudaError_t error = step->choose(&s->job, &s->chip, &exec->blocks);
  if (error != cudaErrorInvalidConfiguration) return check(exec, error);
  cudaGetLastError();
  return log_fail(STATUS_ENVIRONMENT, "kernel %s has no such blocks for this problem on %s",
                  exec->kernel->name, exec->device->info.name);
}

static status_t open(struct gemm_exec *exec)
{
  const struct fp32_step *step = step_of(exec);
  struct state *s = exec->state = calloc(1, sizeof *s);
  if (!s) return log_fail(STATUS_ENVIRONMENT, "out of host memory for kernel %s", exec->kernel->name);
  s->job = job_of(&exec->problem);
  RETURN_IF_FAILED(cuda_use(exec->device));
  RETURN_IF_FAILED(chip_read(exec, &s->chip));
  RETURN_IF_FAILED(blocks_choose(exec, s));
  size_t bytes = step->work ? step->work(&s->job, &s->chip, &exec->blocks) : 0;
  if (bytes > 0) {
    RETURN_IF_FAILED(gpu_alloc(exec->device, bytes, &s->work));
    RETURN_IF_FAILED(check(exec, cudaMemset(s->work.handle, 0, bytes)));
    /* queues do not wait for that stream */
    RETURN_IF_FAILED(check(exec, cudaStreamSynchronize(NULL)));
  }
  s->job.work = s->work.handle;
  struct fp32_launch launch = step->describe(&s->job, &s->chip, &exec->blocks);
  return check(exec, cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          launch.shared_bytes));
}

static void close(struct gemm_exec *exec)
{
  struct state *s = exec->state;
  if (s) gpu_free(exec->device, &s->work);
  free(s);
}

static status_t launch(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *operands)
{
  const struct state *s = exec->state;
  struct fp32_job job = s->job;
  job.a = operands->a.handle;
  job.b = operands->b.handle;
  job.c = operands->c.handle;
  RETURN_IF_FAILED(cuda_use(exec->device));
  return check(exec, step_of(exec)->launch(&job, &s->chip, &exec->blocks, cuda_queue_handle(queue)));
}

static void resources(const struct gemm_exec *exec, struct gemm_resources *r)
{
  const struct state *s = exec->state;
  const struct cudaDeviceProp *properties = &((const struct cuda_device *)exec->device)->properties;
  struct fp32_launch l = step_of(exec)->describe(&s->job, &s->chip, &exec->blocks);
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
  r->occupancy = (double)blocks * l.threads / properties->maxThreadsPerMultiProcessor;
}

static const struct gemm_ops ops = {.open = open, .close = close, .launch = launch, .resources = resources};

/* ---- the ladder ---- */

#define COMMON .types = GEMM_BIT(GEMM_F32), .ops = &ops
#define ONE(b) .blocks = &(b), .n_blocks = 1

static const struct gemm_blocks naive_blocks = {
    .group_m = 16, .group_n = 16, .item_m = 1, .item_n = 1, .stages = 1};
const struct gemm_kernel gemm_cuda_naive = {.name = "naive",
                                            .step = "a thread an element",
                                            .rung = 1,
                                            .variant = &fp32_naive,
                                            ONE(naive_blocks),
                                            COMMON};

static const struct gemm_blocks regblock_blocks = {
    .group_m = 128, .group_n = 128, .item_m = 8, .item_n = 8, .stages = 1};
const struct gemm_kernel gemm_cuda_regblock = {.name = "regblock",
                                               .step = "8x8 elements a thread, in registers",
                                               .rung = 2,
                                               .variant = &fp32_regblock,
                                               ONE(regblock_blocks),
                                               COMMON};

static const struct gemm_blocks local_blocks = {
    .group_m = 128, .group_n = 128, .group_k = 1, .item_m = 8, .item_n = 8, .stages = 1};
const struct gemm_kernel gemm_cuda_local = {
    .name = "local",
    .step = "128x128 a block through shared memory, one step of k at a time",
    .rung = 3,
    .variant = &fp32_local,
    ONE(local_blocks),
    COMMON};

static const struct gemm_blocks unroll_blocks = {
    .group_m = 128, .group_n = 128, .group_k = 8, .item_m = 8, .item_n = 8, .stages = 1};
const struct gemm_kernel gemm_cuda_unroll = {.name = "unroll",
                                             .step = "8 steps of k at a time, fetched four by four",
                                             .rung = 4,
                                             .variant = &fp32_unroll,
                                             ONE(unroll_blocks),
                                             COMMON};

static const struct gemm_blocks pipeline_blocks = {
    .group_m = 128, .group_n = 128, .group_k = 8, .item_m = 8, .item_n = 8, .stages = 2};
const struct gemm_kernel gemm_cuda_pipeline = {.name = "pipeline",
                                               .step =
                                                   "the next tile is fetched while this one is multiplied",
                                               .rung = 5,
                                               .variant = &fp32_pipeline,
                                               ONE(pipeline_blocks),
                                               COMMON};

static const struct gemm_blocks lds_blocks = {
    .group_m = 128, .group_n = 128, .group_k = 8, .item_m = 8, .item_n = 8, .stages = 2, .ahead = 1};
const struct gemm_kernel gemm_cuda_lds_pipeline = {.name = "lds-pipeline",
                                                   .step = "shared memory is read a step ahead too",
                                                   .rung = 6,
                                                   .variant = &fp32_lds_pipeline,
                                                   ONE(lds_blocks),
                                                   COMMON};

#define TILE(m, n, im, in, parts, stay)                                                                      \
  {                                                                                                          \
    .group_m = (m), .group_n = (n), .group_k = 16, .item_m = (im), .item_n = (in), .stages = 4, .ahead = 1,  \
    .splits = (parts), .stays = (stay)                                                                       \
  }
#define SIZES(parts, stay, item_128)                                                                         \
  TILE(128, 256, 8, 16, parts, stay), TILE(128, 128, 8, item_128, parts, stay),                              \
      TILE(64, 128, 8, 8, parts, stay), TILE(64, 64, 8, 4, parts, stay)
/* The first leaves the choice to the rung's own model. */
static const struct gemm_blocks warptile_blocks[] = {
    {0}, SIZES(1, 0, 8), SIZES(1, 1, 16), SIZES(2, 0, 8), SIZES(4, 0, 8)};
const struct gemm_kernel gemm_cuda_warptile = {
    .name = "warptile",
    .step = "tiles in tiles of warps, fed by asynchronous copies; small tiles and parts of k for small sizes",
    .rung = 7,
    .transposes = 1,
    .variant = &fp32_warptile,
    .blocks = warptile_blocks,
    .n_blocks = sizeof warptile_blocks / sizeof *warptile_blocks,
    COMMON};
