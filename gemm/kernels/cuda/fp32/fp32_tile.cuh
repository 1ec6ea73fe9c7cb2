// SPDX-License-Identifier: MIT
// Tiles of 128×128 in shared memory, multiplied by 256 threads of 8×8 elements each. The rungs
// local, unroll, pipeline and lds-pipeline use them. A thread's rows are two groups of four, 64
// apart, and so are its columns, so that the 16-byte loads of a warp have no bank conflicts.
#ifndef GEMM_KERNELS_CUDA_FP32_FP32_TILE_CUH
#define GEMM_KERNELS_CUDA_FP32_FP32_TILE_CUH

#include "gemm/kernels/cuda/fp32/fp32.cuh"

#define TILE         128
#define DEPTH        8 // steps of k per tile
#define ITEM         8
#define TILE_THREADS 256
// floats per row, padded against bank conflicts of A's transposed stores
#define PITCH (TILE + 4)

// A thread's sums and their position in C.
struct tile_sums {
  float at[ITEM][ITEM];
  int i, j;   // first row and column of the thread in C
  int ti, tj; // first row and column of the thread within the tile

  __device__ __forceinline__ void begin(const corner &corner)
  {
    ti = threadIdx.x / 16 * 4;
    tj = threadIdx.x % 16 * 4;
    i = corner.i + ti;
    j = corner.j + tj;
#pragma unroll
    for (int x = 0; x < ITEM; x++)
#pragma unroll
      for (int y = 0; y < ITEM; y++) at[x][y] = 0;
  }

  __device__ __forceinline__ void multiply(const float (&a)[ITEM], const float (&b)[ITEM])
  {
#pragma unroll
    for (int x = 0; x < ITEM; x++)
#pragma unroll
      for (int y = 0; y < ITEM; y++) at[x][y] = fmaf(a[x], b[y], at[x][y]);
  }

  __device__ __forceinline__ void store(const cuda_job &job) const
  {
#pragma unroll
    for (int x = 0; x < ITEM; x++)
#pragma unroll
      for (int y = 0; y < ITEM; y++) {
        const int row = i + x % 4 + x / 4 * 64, column = j + y % 4 + y / 4 * 64;
        if (row < job.m && column < job.n)
          result_store(job.c + row * job.ldc + column, at[x][y], job.alpha, job.beta);
      }
  }
};

// Loads a thread's eight elements of a row of shared memory: four at `from`, and four at from + 64.
static __device__ __forceinline__ void item_load(const float *row, int from, float (&to)[ITEM])
{
  const float4 left = *(const float4 *)(row + from), right = *(const float4 *)(row + from + 64);
  to[0] = left.x, to[1] = left.y, to[2] = left.z, to[3] = left.w;
  to[4] = right.x, to[5] = right.y, to[6] = right.z, to[7] = right.w;
}

// Loads four floats of a row, and sets those from index `valid` on to 0. Uses one load if the row's
// start is aligned.
static __device__ __forceinline__ float4 quad_load(const float *from, int valid, bool aligned)
{
  if (aligned && valid >= 4) return __ldg((const float4 *)from);
  float4 quad = {0, 0, 0, 0};
  if (valid > 0) quad.x = from[0];
  if (valid > 1) quad.y = from[1];
  if (valid > 2) quad.z = from[2];
  if (valid > 3) quad.w = from[3];
  return quad;
}

// A tile of A and one of B in shared memory, both with one row per step of k.
struct tile_pair {
  float a[DEPTH][PITCH], b[DEPTH][PITCH];
};

// A thread's share of the next tile: four floats of A, along k, and four of B, along n.
struct tile_fetch {
  const float *a, *b; // the thread's first element of the next tile
  int64_t b_step;
  int a_row, a_column, b_row, b_column; // within the tile
  int a_valid, b_valid;                 // how many of the four floats are inside the matrix
  int k_left;                           // number of steps of k not loaded yet
  bool a_aligned, b_aligned;
  float4 from_a, from_b;

  __device__ __forceinline__ void begin(const cuda_job &job, const corner &at)
  {
    a_row = threadIdx.x / 2, a_column = threadIdx.x % 2 * 4;
    b_row = threadIdx.x / 32, b_column = threadIdx.x % 32 * 4;
    a = job.a + (at.i + a_row) * job.lda + a_column;
    b = job.b + b_row * job.ldb + at.j + b_column;
    b_step = DEPTH * job.ldb;
    a_valid = at.i + a_row < job.m ? 4 : 0;
    b_valid = max(0, min(4, job.n - at.j - b_column));
    k_left = job.k;
    a_aligned = job.lda % 4 == 0 && (uintptr_t)job.a % 16 == 0;
    b_aligned = job.ldb % 4 == 0 && (uintptr_t)job.b % 16 == 0;
  }

  // Loads the share and advances to the next tile.
  __device__ __forceinline__ void load()
  {
    from_a = quad_load(a, min(a_valid, k_left - a_column), a_aligned);
    from_b = quad_load(b, b_row < k_left ? b_valid : 0, b_aligned);
    a += DEPTH;
    b += b_step;
    k_left -= DEPTH;
  }

  __device__ __forceinline__ void store(tile_pair &to) const
  {
    to.a[a_column][a_row] = from_a.x;
    to.a[a_column + 1][a_row] = from_a.y;
    to.a[a_column + 2][a_row] = from_a.z;
    to.a[a_column + 3][a_row] = from_a.w;
    *(float4 *)&to.b[b_row][b_column] = from_b;
  }
};

#endif
