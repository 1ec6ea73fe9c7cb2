/* SPDX-License-Identifier: MIT */
/* QPU kernels: the ladder of gemm/kernels/qpu. The host copies matrices into tiles before a product
 * and copies C back after it; both copies count as part of the launch. */
#include <stdlib.h>

#include "base/log.h"
#include "gemm/kernels/kernels.h"
#include "gemm/kernels/qpu/qpu_sgemm.h"
#include "gpu/qpu/device.h"

struct qpu_product_state {
  struct qpu_sgemm *sgemm;
  struct gemm_counts counts;
};

static int qpu_product_fits(const struct gemm_kernel *kernel, const struct gpu_device *device,
                            const struct gemm_problem *problem, char why[GPU_TEXT_MAX])
{
  (void)problem;
  return qpu_sgemm_fits(kernel->variant, device, why);
}

static status_t qpu_product_open(struct gemm_exec *exec)
{
  const struct gemm_problem *p = &exec->problem;
  struct qpu_product_state *state = calloc(1, sizeof *state);
  if (!state) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a QPU product");
  exec->state = state;
  return qpu_sgemm_open(exec->device, exec->kernel->variant, (size_t)p->m, (size_t)p->k, (size_t)p->n,
                        &state->sgemm);
}

static void qpu_product_close(struct gemm_exec *exec)
{
  struct qpu_product_state *state = exec->state;
  if (state) qpu_sgemm_close(state->sgemm);
  free(state);
}

static status_t qpu_product_launch(struct gemm_exec *exec, struct gpu_queue *queue,
                                   const struct gemm_operands *operands)
{
  const struct gemm_problem *p = &exec->problem;
  struct qpu_product_state *state = exec->state;
  struct qpu_sgemm_problem problem = {.p = (size_t)p->m,
                                      .q = (size_t)p->k,
                                      .r = (size_t)p->n,
                                      .alpha = p->alpha,
                                      .beta = p->beta,
                                      .a = operands->a.handle,
                                      .b = operands->b.handle,
                                      .c = operands->c.handle,
                                      .lda = (size_t)p->ld[GEMM_A],
                                      .ldb = (size_t)p->ld[GEMM_B],
                                      .ldc = (size_t)p->ld[GEMM_C],
                                      .trans_a = p->trans_a,
                                      .trans_b = p->trans_b};
  (void)queue;
  return qpu_sgemm_run(state->sgemm, &problem, exec->device->info.compute_units, &state->counts);
}

static status_t qpu_product_estimate(struct gemm_exec *exec, double *seconds)
{
  const struct qpu_product_state *state = exec->state;
  return qpu_sgemm_estimate(state->sgemm, exec->device->info.compute_units, seconds);
}

static void qpu_product_counts(const struct gemm_exec *exec, struct gemm_counts *counts)
{
  *counts = ((const struct qpu_product_state *)exec->state)->counts;
}

static const struct gemm_ops ops = {.fits = qpu_product_fits,
                                    .open = qpu_product_open,
                                    .close = qpu_product_close,
                                    .launch = qpu_product_launch,
                                    .counts = qpu_product_counts,
                                    .estimate = qpu_product_estimate};

#define KERNEL(id, text, place)                                                                              \
  static const struct gemm_kernel kernel_##id = {.name = #id,                                                \
                                                 .step = text,                                               \
                                                 .rung = place,                                              \
                                                 .types = GEMM_BIT(GEMM_F32),                                \
                                                 .transposes = 1,                                            \
                                                 .finite = 1,                                                \
                                                 .truncates = 1,                                             \
                                                 .ops = &ops,                                                \
                                                 .variant = &qpu_sgemm_kernels[qpu_sgemm_##id]}

/* On a Pi there are no estimates, so the last rung is the default. On the emulator the default is
 * the highest rung whose estimate is within 3% of the shortest. For large products, that is the
 * last rung. */
KERNEL(dot, "dot products of 16 through two TMUs: 1 product in 14 instructions", 1);
KERNEL(138, "outer product, one operation per instruction: 64 products in 138 instructions", 2);
KERNEL(72, "both ALUs at once, delay slots filled: 64 products in 72 instructions", 3);
KERNEL(68, "counter and address in one vector, loads one iteration ahead: 64 products in 68", 4);
KERNEL(tmu1, "B through the second TMU instead of uniforms, 48 x 16 tiles: 48 products in 78", 5);
KERNEL(threads, "two threads per QPU, 16 x 32 tiles: 32 products in 35", 6);
KERNEL(67, "loop overhead of four instructions, C written during its end: 64 products in 67", 7);

/* Not rungs: studies of the article's open questions, see doc/lab/qpu-open.md. */
KERNEL(ctmu, "67 with C by TMU instead of DMA", 0);
KERNEL(vertical, "67 with vertical transfers of C", 0);
KERNEL(half, "the program of threads with one thread per QPU", 0);

static const struct gemm_kernel *const kernels[] = {&kernel_dot,  &kernel_138,     &kernel_72, &kernel_68,
                                                    &kernel_tmu1, &kernel_threads, &kernel_67, &kernel_ctmu,
                                                    &kernel_half, &kernel_vertical};

const struct gemm_kernel_set gemm_kernels_qpu = {
    .backend = "qpu",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
};
