// SPDX-License-Identifier: MIT
// The 2008 baseline: a block of 256 threads loads the 18×18×10 values of p for its 16×16×8 points
// into shared memory before it computes the first point; eight points per thread. Source: T. Aoki's
// code as described by A. Naruse (RIKEN HPC symposium, March 2009).
#include "himeno/kernels/cuda/point.cuh"

static const int TILE_K = 16, TILE_J = 16, TILE_I = 8;
static const int THREADS = TILE_K * TILE_J;
static const int ROW = TILE_K + 2, PLANE = ROW * (TILE_J + 2), CUBE = PLANE * (TILE_I + 2);

// Loads a tile, except values beyond the neighbours of the box, which may be outside of the array.
static __device__ __forceinline__ void load_tile(float *tile, const struct cuda_pass &pass, int i0, int j0,
                                                 int k0)
{
  for (int n = threadIdx.x + TILE_K * threadIdx.y; n < CUBE; n += THREADS) {
    int i = i0 - 1 + n / PLANE, j = j0 - 1 + n % PLANE / ROW, k = k0 - 1 + n % ROW;
    if (i <= pass.hi[0] && j <= pass.hi[1] && k >= pass.lo[2] - 1 && k <= pass.hi[2])
      tile[n] = pass.p[i * pass.plane + (int64_t)j * pass.pitch + k];
  }
}

static __global__ void __launch_bounds__(THREADS) block16(const CUDA_GRID_CONSTANT struct cuda_pass pass)
{
  __shared__ float tile[CUBE];
  int i0 = pass.lo[0] + blockIdx.z * TILE_I, j0 = pass.lo[1] + blockIdx.y * TILE_J;
  int k0 = pass.first_k + blockIdx.x * TILE_K;
  int j = j0 + threadIdx.y, k = k0 + threadIdx.x;
  double gosa = 0;
  next_may_start();
  wait_for_previous();
  load_tile(tile, pass, i0, j0, k0);
  __syncthreads();
  for (int di = 0; di < TILE_I && in_box(pass, i0 + di, j, k); di++) {
    float ss;
    int64_t at = (i0 + di) * pass.plane + (int64_t)j * pass.pitch + k;
    const float *p = tile + (di + 1) * PLANE + (threadIdx.y + 1) * ROW + threadIdx.x + 1;
    pass.out[at] = relax(stencil_at(p - PLANE, p, p + PLANE, ROW), coefficients_at(pass, at), &ss);
    gosa += squared(ss);
  }
  gosa_add(gosa, pass.gosa);
}

const struct cuda_variant cuda_variant_block16 = {
    block16, {TILE_K, TILE_J, 1}, {TILE_I, TILE_J, TILE_K}, {2, 1, 0}, 0};
