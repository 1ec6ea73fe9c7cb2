/* SPDX-License-Identifier: MIT */
/* The reference library on NVIDIA's devices, with its defaults: one handle, its default workspace,
 * and its own choice of algorithm. float32 is multiplied as float32, without TF32. */
#include <cublas_v2.h>
#include <stdlib.h>

#include "base/log.h"
#include "gemm/kernels/cuda/cuda_gemm.h"
#include "gpu/cuda/cuda_device.h"

static status_t cublas_fail(cublasStatus_t result, const char *what)
{
  int lacks = result == CUBLAS_STATUS_NOT_INITIALIZED || result == CUBLAS_STATUS_ALLOC_FAILED ||
              result == CUBLAS_STATUS_ARCH_MISMATCH || result == CUBLAS_STATUS_NOT_SUPPORTED;
  return log_fail(lacks ? STATUS_ENVIRONMENT : STATUS_FAULT, "%s: %s", what, cublasGetStatusString(result));
}

struct cublas_state {
  cublasHandle_t handle;
  union {
    double f64;
    float f32;
    uint16_t half;
  } alpha, beta; /* in the type of the sums */
};

static status_t cublas_open(struct gemm_exec *exec)
{
  struct cublas_state *s = exec->state = calloc(1, sizeof *s);
  if (!s) return log_fail(STATUS_ENVIRONMENT, "out of host memory for kernel %s", exec->kernel->name);
  switch (exec->problem.type) {
  case GEMM_F64:
    s->alpha.f64 = exec->problem.alpha, s->beta.f64 = exec->problem.beta;
    break;
  case GEMM_F16_F16:
    s->alpha.half = gemm_half((float)exec->problem.alpha),
    s->beta.half = gemm_half((float)exec->problem.beta);
    break;
  default:
    s->alpha.f32 = (float)exec->problem.alpha, s->beta.f32 = (float)exec->problem.beta;
  }
  RETURN_IF_FAILED(cuda_use(exec->device));
  cublasStatus_t result = cublasCreate(&s->handle);
  return result == CUBLAS_STATUS_SUCCESS ? STATUS_OK : cublas_fail(result, "cublasCreate");
}

static void cublas_close(struct gemm_exec *exec)
{
  struct cublas_state *s = exec->state;
  if (s && s->handle) cublasDestroy(s->handle);
  free(s);
}

static const struct {
  cudaDataType_t operand, result;
  cublasComputeType_t arithmetic;
} types[GEMM_TYPES] = {
    [GEMM_F32] = {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    [GEMM_TF32] = {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    [GEMM_F16] = {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    [GEMM_F16_F16] = {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F},
    [GEMM_BF16] = {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    [GEMM_F64] = {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
};

static cublasOperation_t operation(int transposed)
{
  return transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/* cuBLAS stores matrices by columns and so sees the transposes of our matrices. It computes Cᵀ =
 * op(B)ᵀ·op(A)ᵀ. */
static status_t cublas_launch(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *o)
{
  const struct cublas_state *s = exec->state;
  const struct gemm_problem *p = &exec->problem;
  const enum gemm_type t = p->type;
  cublasStatus_t result = cublasSetStream(s->handle, cuda_queue_handle(queue));
  if (result != CUBLAS_STATUS_SUCCESS) return cublas_fail(result, "cublasSetStream");
  result = cublasGemmEx(s->handle, operation(p->trans_b), operation(p->trans_a), (int)p->n, (int)p->m,
                        (int)p->k, &s->alpha, o->b.handle, types[t].operand, (int)p->ld[GEMM_B], o->a.handle,
                        types[t].operand, (int)p->ld[GEMM_A], &s->beta, o->c.handle, types[t].result,
                        (int)p->ld[GEMM_C], types[t].arithmetic, CUBLAS_GEMM_DEFAULT);
  return result == CUBLAS_STATUS_SUCCESS ? STATUS_OK : cublas_fail(result, "cublasGemmEx");
}

static const struct gemm_ops ops = {
    .fits = gemm_kernel_fits_int, .open = cublas_open, .close = cublas_close, .launch = cublas_launch};

const struct gemm_kernel gemm_cuda_cublas = {
    .name = "cublas",
    .step = "cuBLAS",
    .is_reference = 1,
    .types = GEMM_BIT(GEMM_TYPES) - 1,
    .transposes = 1,
    .truncates = 1,
    .ops = &ops,
};
