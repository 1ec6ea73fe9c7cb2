/* SPDX-License-Identifier: MIT */
/* The tensor-core rungs of the CUDA set, and the packed half rung below them: host side. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "gemm/kernels/cuda/tensor/tensor.h"
#include "gemm/kernels/cuda/tensor/tensor_kernels.h"
#include "gpu/cuda/cuda_device.h"

/* The last tile's rows, columns and steps are counted in int, also where they lie beyond the
 * matrix. */
#define EXTENT_MOST (INT_MAX - 511)

struct state {
  struct gpu_mem work;
  struct tensor_job job; /* all but the operands */
};

static const struct tensor_step *step_of(const struct gemm_kernel *kernel)
{
  return kernel->variant;
}

static int chip_of(const struct gpu_device *device)
{
  const struct cudaDeviceProp *properties = &((const struct cuda_device *)device)->properties;
  return 10 * properties->major + properties->minor;
}

static int code_of(const struct tensor_step *step, const struct gpu_device *device)
{
  int chip = chip_of(device), code = 0;
  if (!step->kernel) return chip;
  if (cuda_code_of(step->kernel(), &code) == cudaSuccess) return code < chip ? code : chip;
  cudaGetLastError();
  return chip;
}

static struct tensor_job job_of(const struct tensor_step *step, const struct gemm_problem *p,
                                const struct gpu_device *device)
{
  return (struct tensor_job){.type = p->type,
                             .m = (int)p->m,
                             .n = (int)p->n,
                             .k = (int)p->k,
                             .lda = p->ld[GEMM_A],
                             .ldb = p->ld[GEMM_B],
                             .ldc = p->ld[GEMM_C],
                             .trans_a = p->trans_a,
                             .trans_b = p->trans_b,
                             .alpha = p->alpha,
                             .beta = p->beta,
                             .processors = device->info.compute_units,
                             .chip = code_of(step, device)};
}

static int fits(const struct gemm_kernel *kernel, const struct gpu_device *device,
                const struct gemm_problem *p, char why[GPU_TEXT_MAX])
{
  const struct tensor_step *step = step_of(kernel);
  const int chip = chip_of(device), only = step->family;
  if (only ? chip != step->chip : chip < step->chip)
    snprintf(why, GPU_TEXT_MAX, "needs sm_%d%s, this is sm_%d (%.60s)", step->chip,
             only ? "a (H100, H200)" : " or later", chip, device->info.name);
  else if (!step->built)
    snprintf(why, GPU_TEXT_MAX,
             "was not built for sm_%da: configure --with-cuda-arch=%d with CUDA 12 or later", chip, chip);
  else if (code_of(step, device) < step->chip)
    snprintf(why, GPU_TEXT_MAX, "was not built for sm_%d or later: configure --with-cuda-arch=%d", step->chip,
             chip);
  else if (p->m > EXTENT_MOST || p->n > EXTENT_MOST || p->k > EXTENT_MOST)
    snprintf(why, GPU_TEXT_MAX, "takes extents up to %d", EXTENT_MOST);
  else if (step->rows_most && p->m > step->rows_most)
    snprintf(why, GPU_TEXT_MAX, "takes up to %d rows", step->rows_most);
  else
    return 1;
  return 0;
}

static status_t open(struct gemm_exec *exec)
{
  const struct tensor_step *step = step_of(exec->kernel);
  struct state *state = exec->state = calloc(1, sizeof *state);
  if (!state) return log_fail(STATUS_ENVIRONMENT, "out of host memory for kernel %s", exec->kernel->name);
  state->job = job_of(step, &exec->problem, exec->device);
  size_t bytes = step->work ? step->work(&state->job) : 0;
  if (bytes) RETURN_IF_FAILED(gpu_alloc(exec->device, bytes, &state->work));
  state->job.work = state->work.handle;
  return STATUS_OK;
}

static void close(struct gemm_exec *exec)
{
  struct state *state = exec->state;
  if (state) gpu_free(exec->device, &state->work);
  free(state);
}

static status_t launch(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *operands)
{
  const struct state *state = exec->state;
  struct tensor_job job = state->job;
  job.a = operands->a.handle;
  job.b = operands->b.handle;
  job.c = operands->c.handle;
  RETURN_IF_FAILED(cuda_use(exec->device));
  cudaError_t error = step_of(exec->kernel)->launch(&job, cuda_queue_handle(queue));
  return error == cudaSuccess ? STATUS_OK : cuda_fail(error, exec->kernel->name);
}

static const struct gemm_ops ops = {.fits = fits, .open = open, .close = close, .launch = launch};

#define HALVES (GEMM_BIT(GEMM_F16) | GEMM_BIT(GEMM_BF16))

const struct gemm_kernel gemm_cuda_f16x2 = {
    .name = "f16x2",
    .step = "half without tensor cores: two products an instruction, sums in half",
    .rung = 8,
    .types = GEMM_BIT(GEMM_F16_F16),
    .ops = &ops,
    .variant = &tensor_f16x2,
};

const struct gemm_kernel gemm_cuda_wmma = {
    .name = "wmma",
    .step = "tensor cores through WMMA, fragments 16x16x16, operands staged in shared memory",
    .rung = 9,
    .types = GEMM_BIT(GEMM_F16) | GEMM_BIT(GEMM_F16_F16),
    .transposes = 1,
    .truncates = 1,
    .ops = &ops,
    .variant = &tensor_wmma,
};

const struct gemm_kernel gemm_cuda_wmma_32x8 = {
    .name = "wmma-32x8",
    .step = "wmma with fragments 32x8x16",
    .types = GEMM_BIT(GEMM_F16) | GEMM_BIT(GEMM_F16_F16),
    .transposes = 1,
    .truncates = 1,
    .ops = &ops,
    .variant = &tensor_wmma_32x8,
};

const struct gemm_kernel gemm_cuda_wmma_8x32 = {
    .name = "wmma-8x32",
    .step = "wmma with fragments 8x32x16",
    .types = GEMM_BIT(GEMM_F16) | GEMM_BIT(GEMM_F16_F16),
    .transposes = 1,
    .truncates = 1,
    .ops = &ops,
    .variant = &tensor_wmma_8x32,
};

const struct gemm_kernel gemm_cuda_mma = {
    .name = "mma",
    .step = "the warp's own instruction m16n8k16, operands by ldmatrix, results from registers",
    .rung = 10,
    .types = HALVES,
    .transposes = 1,
    .truncates = 1,
    .ops = &ops,
    .variant = &tensor_mma,
};

const struct gemm_kernel gemm_cuda_wgmma = {
    .name = "wgmma",
    .step = "warpgroups multiply from shared memory, bulk copies to pairs of blocks, blocks that stay",
    .rung = 11,
    .types = HALVES | GEMM_BIT(GEMM_TF32),
    .transposes = 1,
    .truncates = 1,
    .ops = &ops,
    .variant = &tensor_wgmma,
};

const struct gemm_kernel gemm_cuda_sgemm_tc = {
    .name = "sgemm-tc",
    .step = "float32 from six bfloat16 products an element, summed outside of the tensor cores every 32",
    .types = GEMM_BIT(GEMM_F32),
    .transposes = 1,
    .ops = &ops,
    .variant = &tensor_sgemm_tc,
};
