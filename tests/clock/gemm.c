/* SPDX-License-Identifier: MIT */
/* Matrix products with the virtual clock. The word `product`: nanoseconds per multiply-add. The
 * null device gets a known peak. */
#include "clock.h"
#include "gemm/kernels/kernels.h"

extern const struct gemm_kernel_set __real_gemm_kernels_null;
struct gemm_kernel_set __wrap_gemm_kernels_null;

extern const struct gemm_kernel __real_gemm_cpu_naive;
struct gemm_kernel __wrap_gemm_cpu_naive;
static struct gemm_ops ops;

/* The times of products vary by `jitter` with a period of five, like blocks of sweeps. */
static status_t launch(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *operands)
{
  static const int jitter[] = {0, 1, -1, 3, -2};
  static int products;
  const struct gemm_problem *p = &exec->problem;
  clock_work("product", (double)p->m * (double)p->n * (double)p->k *
                            (1 + clock_word("jitter", 0) * jitter[products++ % 5]));
  return __real_gemm_cpu_naive.ops->launch(exec, queue, operands);
}

static status_t ceilings(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                         struct gemm_ceilings *found)
{
  (void)device, (void)queue, (void)type;
  *found = (struct gemm_ceilings){.flops = 8e9, .bytes_per_second = 4e9, .local_bytes_per_second = 4e10};
  return STATUS_OK;
}

__attribute__((constructor)) static void kernels_wrap(void)
{
  __wrap_gemm_cpu_naive = __real_gemm_cpu_naive;
  ops = *__real_gemm_cpu_naive.ops;
  ops.launch = launch;
  __wrap_gemm_cpu_naive.ops = &ops;
  __wrap_gemm_kernels_null = __real_gemm_kernels_null;
  __wrap_gemm_kernels_null.ceilings = ceilings;
}
