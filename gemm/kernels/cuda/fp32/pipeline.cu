// SPDX-License-Identifier: MIT
// Two buffers: the next tile is loaded from device memory while the current one is multiplied.
#include "gemm/kernels/cuda/fp32/fp32_tile.cuh"

static __global__ void __launch_bounds__(TILE_THREADS) pipeline(cuda_job job)
{
  __shared__ __align__(16) tile_pair tiles[2];
  const corner at = corner_of(job.n, TILE, TILE);
  tile_fetch next;
  tile_sums sums;
  next.begin(job, at);
  sums.begin(at);
  next.load();
  next.store(tiles[0]);
  __syncthreads();
  for (int now = 0, more = 1; more; now ^= 1) {
    more = next.k_left > 0;
    if (more) next.load();
#pragma unroll
    for (int step = 0; step < DEPTH; step++) {
      float a[ITEM], b[ITEM];
      item_load(tiles[now].a[step], sums.ti, a);
      item_load(tiles[now].b[step], sums.tj, b);
      sums.multiply(a, b);
    }
    if (more) next.store(tiles[now ^ 1]);
    __syncthreads();
  }
  sums.store(job);
}

typedef fixed_rung<pipeline, TILE, TILE, TILE_THREADS> rung;
extern "C" const cuda_operation fp32_pipeline = {rung::launch, nullptr, nullptr, rung::describe};
