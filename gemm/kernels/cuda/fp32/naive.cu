// SPDX-License-Identifier: MIT
// One thread per element of C. It reads device memory: two loads per multiply-add.
#include "gemm/kernels/cuda/fp32/fp32.cuh"

#define SIDE 16

template <class T> static __global__ void __launch_bounds__(SIDE *SIDE) naive(cuda_job job)
{
  const corner at = corner_of(job.n, SIDE, SIDE);
  const int i = at.i + threadIdx.x / SIDE, j = at.j + threadIdx.x % SIDE;
  const T *a = (const T *)job.a + i * job.lda, *b = (const T *)job.b + j;
  T sum = 0;
  if (i >= job.m || j >= job.n) return;
  for (int l = 0; l < job.k; l++) sum = fma(a[l], b[l * job.ldb], sum);
  result_store((T *)job.c + i * job.ldc + j, sum, job.alpha, job.beta);
}

typedef fixed_rung<naive<float>, SIDE, SIDE, SIDE * SIDE> rung;
typedef fixed_rung<naive<double>, SIDE, SIDE, SIDE * SIDE> rung_f64;

static cudaError_t naive_by_type(const cuda_job *job, gemm_type type, const cuda_chip *chip,
                                 const gemm_blocks *blocks, cudaStream_t stream)
{
  return (type == GEMM_F64 ? rung_f64::launch : rung::launch)(job, type, chip, blocks, stream);
}

// Describes the kernel for float if job is NULL.
static cuda_launch naive_describe(const cuda_job *job, const cuda_chip *chip, const gemm_blocks *blocks)
{
  return (job && job->type == GEMM_F64 ? rung_f64::describe : rung::describe)(job, chip, blocks);
}

extern "C" const cuda_operation fp32_naive = {naive_by_type, nullptr, nullptr, naive_describe};
