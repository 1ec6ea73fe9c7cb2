// SPDX-License-Identifier: MIT
// For each step of k, a block stores 128 elements of a column of A and 128 of a row of B in shared
// memory, and computes 128×128 elements of C from them. But half of the threads read a strided
// column, and each step needs two barriers.
#include "gemm/kernels/cuda/fp32/fp32_tile.cuh"

static __global__ void __launch_bounds__(TILE_THREADS) local(cuda_job job)
{
  __shared__ __align__(16) float column[TILE], row[TILE];
  const corner at = corner_of(job.n, TILE, TILE);
  const int t = threadIdx.x % TILE;
  tile_sums sums;
  sums.begin(at);
  for (int l = 0; l < job.k; l++) {
    if (threadIdx.x < TILE)
      column[t] = at.i + t < job.m ? a_at(job, at.i + t, l) : 0;
    else
      row[t] = at.j + t < job.n ? b_at(job, l, at.j + t) : 0;
    __syncthreads();
    float a[ITEM], b[ITEM];
    item_load(column, sums.ti, a);
    item_load(row, sums.tj, b);
    sums.multiply(a, b);
    __syncthreads();
  }
  sums.store(job);
}

typedef fixed_rung<local, TILE, TILE, TILE_THREADS> rung;
extern "C" const cuda_operation fp32_local = {rung::launch, nullptr, nullptr, rung::describe};
