/* SPDX-License-Identifier: MIT */
/* The definition of a product: one dot product per element of C, with strided reads if a matrix is
 * stored in the other order. */
#include "gemm/kernels/cpu/cpu_gemm.h"

static status_t naive_launch(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *o)
{
  const struct gemm_problem *p = &exec->problem;
  const int64_t a_row = p->trans_a ? 1 : p->ld[GEMM_A], a_step = p->trans_a ? p->ld[GEMM_A] : 1;
  const int64_t b_column = p->trans_b ? p->ld[GEMM_B] : 1, b_step = p->trans_b ? 1 : p->ld[GEMM_B];
  const float *a = o->a.handle, *b = o->b.handle;
  float *c = o->c.handle;
  (void)queue;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++) {
      float sum = 0, *out = &c[i * p->ld[GEMM_C] + j];
      for (int64_t l = 0; l < p->k; l++) sum += a[i * a_row + l * a_step] * b[l * b_step + j * b_column];
      *out = p->beta == 0 ? p->alpha * sum : p->alpha * sum + p->beta * *out;
    }
  return STATUS_OK;
}

static const struct gemm_ops ops = {.launch = naive_launch};

const struct gemm_kernel gemm_cpu_naive = {
    .name = "naive",
    .step = "three loops, one dot product per element",
    .rung = 1,
    .types = GEMM_BIT(GEMM_F32),
    .transposes = 1,
    GEMM_BLOCKS({.group_m = 1, .group_n = 1, .item_m = 1, .item_n = 1, .stages = 1}),
    .ops = &ops,
};
