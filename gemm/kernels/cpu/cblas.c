/* SPDX-License-Identifier: MIT */
/* The reference library: OpenBLAS, or another CBLAS, with as many threads as our kernels use. */
#include "config.h"

#include <cblas.h>
#include <sched.h>

#include "base/openmp.h"
#include "gemm/kernels/cpu/cpu_gemm.h"

/* Threads inherit the affinity of the thread that starts them, and our threads are pinned to one
 * core each. So a thread that may run on all cores starts the library. */
static status_t cblas_open(struct gemm_exec *exec)
{
  (void)exec;
#if HAVE_OPENBLAS_SET_NUM_THREADS
  cpu_set_t mine, all;
  CPU_ZERO(&all);
#pragma omp parallel
  {
    cpu_set_t one;
    if (sched_getaffinity(0, sizeof one, &one) == 0)
#pragma omp critical
      CPU_OR(&all, &all, &one);
  }
  int pinned = sched_getaffinity(0, sizeof mine, &mine) == 0 && sched_setaffinity(0, sizeof all, &all) == 0;
  openblas_set_num_threads(1);
  openblas_set_num_threads(omp_get_max_threads());
  if (pinned) sched_setaffinity(0, sizeof mine, &mine);
#endif
  return STATUS_OK;
}

static status_t cblas_launch(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *o)
{
  (void)queue;
  const struct gemm_problem *p = &exec->problem;
  const void *a = o->a.handle, *b = o->b.handle;
  void *c = o->c.handle;
  const CBLAS_TRANSPOSE trans_a = p->trans_a ? CblasTrans : CblasNoTrans,
                        trans_b = p->trans_b ? CblasTrans : CblasNoTrans;
  const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
  const int lda = (int)p->ld[GEMM_A], ldb = (int)p->ld[GEMM_B], ldc = (int)p->ld[GEMM_C];
  if (p->type == GEMM_F64)
    cblas_dgemm(CblasRowMajor, trans_a, trans_b, m, n, k, p->alpha, a, lda, b, ldb, p->beta, c, ldc);
  else
    cblas_sgemm(CblasRowMajor, trans_a, trans_b, m, n, k, (float)p->alpha, a, lda, b, ldb, (float)p->beta, c,
                ldc);
  return STATUS_OK;
}

static const struct gemm_ops ops = {.fits = gemm_kernel_fits_int, .open = cblas_open, .launch = cblas_launch};

const struct gemm_kernel gemm_cpu_cblas = {
    .name = "cblas",
    .step = CBLAS_NAME ", with the same number of threads",
    .is_reference = 1,
    .types = GEMM_BIT(GEMM_F32) | GEMM_BIT(GEMM_F64),
    .transposes = 1,
    .ops = &ops,
};
