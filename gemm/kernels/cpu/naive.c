/* SPDX-License-Identifier: MIT */
/* The definition of a product: one dot product per element of C, with strided reads if a matrix is
 * stored in the other order. */
#include "gemm/kernels/cpu/cpu_gemm.h"

#define PRODUCT(number)                                                                                      \
  static void product_##number(const struct gemm_problem *p, const number *a, const number *b, number *c)    \
  {                                                                                                          \
    const int64_t a_row = p->trans_a ? 1 : p->ld[GEMM_A], a_step = p->trans_a ? p->ld[GEMM_A] : 1;           \
    const int64_t b_column = p->trans_b ? p->ld[GEMM_B] : 1, b_step = p->trans_b ? 1 : p->ld[GEMM_B];        \
    const number alpha = (number)p->alpha, beta = (number)p->beta;                                           \
    _Pragma("omp parallel for schedule(static)") for (int64_t i = 0; i < p->m; i++) for (int64_t j = 0;      \
                                                                                         j < p->n; j++)      \
    {                                                                                                        \
      number sum = 0, *out = &c[i * p->ld[GEMM_C] + j];                                                      \
      for (int64_t l = 0; l < p->k; l++) sum += a[i * a_row + l * a_step] * b[l * b_step + j * b_column];    \
      *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;                                            \
    }                                                                                                        \
  }
PRODUCT(float)
PRODUCT(double)

static status_t naive_launch(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *o)
{
  const struct gemm_problem *p = &exec->problem;
  (void)queue;
  if (p->type == GEMM_F64)
    product_double(p, o->a.handle, o->b.handle, o->c.handle);
  else
    product_float(p, o->a.handle, o->b.handle, o->c.handle);
  return STATUS_OK;
}

static const struct gemm_ops ops = {.launch = naive_launch};

const struct gemm_kernel gemm_cpu_naive = {
    .name = "naive",
    .step = "three loops, one dot product per element",
    .rung = 1,
    .types = GEMM_BIT(GEMM_F32) | GEMM_BIT(GEMM_F64),
    .transposes = 1,
    GEMM_BLOCKS({.group_m = 1, .group_n = 1, .item_m = 1, .item_n = 1, .stages = 1}),
    .ops = &ops,
};
