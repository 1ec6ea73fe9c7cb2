// SPDX-License-Identifier: MIT
// 8×8 elements per thread: 16 loads from device memory serve 64 multiply-adds. A thread's rows and
// columns are 16 apart, so that neighbouring threads read neighbouring columns of B.
#include "gemm/kernels/cuda/fp32/fp32.cuh"

#define ITEM 8
#define SIDE 16
#define TILE (ITEM * SIDE)

static __global__ void __launch_bounds__(SIDE *SIDE) regblock(cuda_job job)
{
  const corner at = corner_of(job.n, TILE, TILE);
  const int i0 = at.i + threadIdx.x / SIDE, j0 = at.j + threadIdx.x % SIDE;
  float sums[ITEM][ITEM] = {};
  // Pointers to the next elements advance along k, so that no address is computed from indices.
  // Beyond the edge, the last row or column is read again; sums from these reads are not stored.
  const float *a_next[ITEM], *b_next[ITEM];
#pragma unroll
  for (int x = 0; x < ITEM; x++) {
    a_next[x] = &job.a[min(i0 + x * SIDE, job.m - 1) * job.lda];
    b_next[x] = &job.b[min(j0 + x * SIDE, job.n - 1)];
  }
  for (int l = 0; l < job.k; l++) {
    float a[ITEM], b[ITEM];
#pragma unroll
    for (int x = 0; x < ITEM; x++) a[x] = *a_next[x]++;
#pragma unroll
    for (int x = 0; x < ITEM; x++, b_next[x - 1] += job.ldb) b[x] = *b_next[x];
#pragma unroll
    for (int x = 0; x < ITEM; x++)
#pragma unroll
      for (int y = 0; y < ITEM; y++) sums[x][y] = fmaf(a[x], b[y], sums[x][y]);
  }
#pragma unroll
  for (int x = 0; x < ITEM; x++)
#pragma unroll
    for (int y = 0; y < ITEM; y++) {
      const int i = i0 + x * SIDE, j = j0 + y * SIDE;
      if (i < job.m && j < job.n) result_store(job.c + i * job.ldc + j, sums[x][y], job.alpha, job.beta);
    }
}

typedef fixed_rung<regblock, TILE, TILE, SIDE * SIDE> rung;
extern "C" const cuda_operation fp32_regblock = {rung::launch, nullptr, nullptr, rung::describe};
