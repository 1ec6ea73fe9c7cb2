// SPDX-License-Identifier: MIT
// While a step is multiplied, the elements of the next step are loaded from shared memory to
// registers. This overlap continues across the boundary between two tiles.
#include "gemm/kernels/cuda/fp32/fp32_tile.cuh"

struct step_numbers {
  float a[ITEM], b[ITEM];

  __device__ __forceinline__ void load(const tile_pair &tile, int step, const tile_sums &sums)
  {
    item_load(tile.a[step], sums.ti, a);
    item_load(tile.b[step], sums.tj, b);
  }
};

static __global__ void __launch_bounds__(TILE_THREADS, 2) lds_pipeline(cuda_job job)
{
  __shared__ __align__(16) tile_pair tiles[2];
  const corner at = corner_of(job.n, TILE, TILE);
  tile_fetch next;
  tile_sums sums;
  step_numbers numbers[2];
  next.begin(job, at);
  sums.begin(at);
  next.load();
  next.store(tiles[0]);
  __syncthreads();
  numbers[0].load(tiles[0], 0, sums);
  for (int now = 0, more = 1; more; now ^= 1) {
    more = next.k_left > 0;
    if (more) next.load();
#pragma unroll
    for (int step = 0; step < DEPTH - 1; step++) {
      numbers[(step + 1) % 2].load(tiles[now], step + 1, sums);
      sums.multiply(numbers[step % 2].a, numbers[step % 2].b);
    }
    if (more) next.store(tiles[now ^ 1]);
    __syncthreads();
    // After the last tile, this loads elements of an earlier tile, which are not used.
    numbers[0].load(tiles[now ^ 1], 0, sums);
    sums.multiply(numbers[1].a, numbers[1].b);
  }
  sums.store(job);
}

typedef fixed_rung<lds_pipeline, TILE, TILE, TILE_THREADS> rung;
extern "C" const cuda_operation fp32_lds_pipeline = {rung::launch, nullptr, nullptr, rung::describe};
