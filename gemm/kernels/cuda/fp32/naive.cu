// SPDX-License-Identifier: MIT
// One thread per element, reading from device memory: two loads per multiply-add.
#include "gemm/kernels/cuda/fp32/fp32.cuh"

#define SIDE 16

static __global__ void __launch_bounds__(SIDE *SIDE) naive(cuda_job job)
{
  const corner at = corner_of(job.n, SIDE, SIDE);
  const int i = at.i + threadIdx.x / SIDE, j = at.j + threadIdx.x % SIDE;
  float sum = 0;
  if (i >= job.m || j >= job.n) return;
  for (int l = 0; l < job.k; l++) sum = fmaf(a_at(job, i, l), b_at(job, l, j), sum);
  result_store(job.c + i * job.ldc + j, sum, job.alpha, job.beta);
}

typedef fixed_rung<naive, SIDE, SIDE, SIDE * SIDE> rung;
extern "C" const cuda_operation fp32_naive = {rung::launch, nullptr, nullptr, rung::describe};
