// SPDX-License-Identifier: MIT
// Tiles have eight steps of k. Each thread loads four neighbouring elements of each matrix, and
// only an eighth as many barriers as in `local` are needed.
#include "gemm/kernels/cuda/fp32/fp32_tile.cuh"

static __global__ void __launch_bounds__(TILE_THREADS) unroll(cuda_job job)
{
  __shared__ __align__(16) tile_pair tiles;
  const corner at = corner_of(job.n, TILE, TILE);
  tile_fetch next;
  tile_sums sums;
  next.begin(job, at);
  sums.begin(at);
  while (next.k_left > 0) {
    next.load();
    next.store(tiles);
    __syncthreads();
#pragma unroll
    for (int step = 0; step < DEPTH; step++) {
      float a[ITEM], b[ITEM];
      item_load(tiles.a[step], sums.ti, a);
      item_load(tiles.b[step], sums.tj, b);
      sums.multiply(a, b);
    }
    __syncthreads();
  }
  sums.store(job);
}

typedef fixed_rung<unroll, TILE, TILE, TILE_THREADS> rung;
extern "C" const cuda_operation fp32_unroll = {rung::launch, nullptr, nullptr, rung::describe};
