/* SPDX-License-Identifier: MIT */
/* The null backend's kernel: the CPU's plain loop, with calls that fail on demand. */
#include "gemm/kernels/cpu/cpu_gemm.h"
#include "gpu/null/null_device.h"

static status_t null_product_open(struct gemm_exec *exec)
{
  (void)exec;
  return null_call("open kernel", STATUS_ENVIRONMENT);
}

static status_t null_product_launch(struct gemm_exec *exec, struct gpu_queue *queue,
                                    const struct gemm_operands *operands)
{
  RETURN_IF_FAILED(null_call("launch product", STATUS_FAULT));
  return gemm_cpu_naive.ops->launch(exec, queue, operands);
}

static const struct gemm_ops ops = {.open = null_product_open, .launch = null_product_launch};

static const struct gemm_kernel naive = {
    .name = "naive",
    .step = "the CPU's plain loop, can fail on demand (for tests)",
    .rung = 1,
    .types = GEMM_BIT(GEMM_F32) | GEMM_BIT(GEMM_F64),
    .transposes = 1,
    .ops = &ops,
};

static const struct gemm_kernel *const kernels[] = {&naive};

const struct gemm_kernel_set gemm_kernels_null = {
    .backend = "null",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
};
