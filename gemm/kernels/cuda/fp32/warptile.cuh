// SPDX-License-Identifier: MIT
// Common to all kernels of the warptile rung: the shape, and a warp's work from shared memory
// through registers to C.
#ifndef GEMM_KERNELS_CUDA_FP32_WARPTILE_CUH
#define GEMM_KERNELS_CUDA_FP32_WARPTILE_CUH

#include "gemm/kernels/cuda/fp32/async_copy.cuh"
#include "gemm/kernels/cuda/fp32/fp32.cuh"

// A block computes m×n elements of C in steps of k. A warp computes warp_m×warp_n of these
// elements, and a thread item_m×item_n.
template <int m_, int n_, int k_, int warp_m_, int warp_n_, int item_m_, int item_n_, int blocks_>
struct warptile_shape {
  static constexpr int m = m_, n = n_, k = k_, warp_m = warp_m_, warp_n = warp_n_, item_m = item_m_,
                       item_n = item_n_;
  static constexpr int blocks = blocks_; // resident per multiprocessor
  static constexpr int lanes_m = warp_m / item_m, lanes_n = warp_n / item_n;
  static constexpr int threads = m / warp_m * (n / warp_n) * 32;
  static_assert(lanes_m * lanes_n == 32, "32 lanes");
};

// Returns the leading dimension of a partial sum of C: n columns, rounded up to a multiple of 4.
static __host__ __device__ __forceinline__ int64_t parts_ld(int n)
{
  return ((int64_t)n + 3) / 4 * 4;
}

// Tiles are numbered in bands of 8 rows of tiles: down each column of the band, then on to the next
// column, so that tiles computed at the same time share rows and columns in the L2 cache.
#define WARPTILE_BAND 8
static __device__ __forceinline__ corner warptile_corner(int number, int rows, int columns, int tile_m,
                                                         int tile_n)
{
  const int band = number / (WARPTILE_BAND * columns), rest = number - band * WARPTILE_BAND * columns;
  const int height = min(WARPTILE_BAND, rows - band * WARPTILE_BAND);
  return {(band * WARPTILE_BAND + rest % height) * tile_m, rest / height * tile_n};
}

// A thread's elements of a tile. Its rows form groups of four, lanes_m groups apart, and its
// columns groups of four, lanes_n groups apart. Loads have 16 bytes, and the lanes of a warp read
// neighbouring or equal addresses.
template <class S> struct warptile_item {
  float sums[S::item_m][S::item_n];
  float a[2][S::item_m], b[2][S::item_n]; // the operands of this step and of the next step
  int i, j;                               // first row and column within the tile

  __device__ __forceinline__ void begin()
  {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    i = warp % (S::m / S::warp_m) * S::warp_m + lane / S::lanes_n * 4;
    j = warp / (S::m / S::warp_m) * S::warp_n + lane % S::lanes_n * 4;
#pragma unroll
    for (int x = 0; x < S::item_m; x++)
#pragma unroll
      for (int y = 0; y < S::item_n; y++) sums[x][y] = 0;
#pragma unroll
    for (int x = 0; x < S::item_m; x++) a[1][x] = 0;
#pragma unroll
    for (int y = 0; y < S::item_n; y++) b[1][y] = 0;
  }

  static __device__ __forceinline__ int row(int x)
  {
    return x / 4 * S::lanes_m * 4 + x % 4;
  }

  static __device__ __forceinline__ int column(int y)
  {
    return y / 4 * S::lanes_n * 4 + y % 4;
  }

  // Loads the elements of a step. at_a is the address of the thread's first row in the tile of A,
  // at_b the address of its first column in the tile of B.
  __device__ __forceinline__ void load(int step, uint32_t at_a, uint32_t at_b)
  {
#pragma unroll
    for (int x = 0; x < S::item_m; x += 4) {
      const float4 v = shared_load(at_a + row(x) * sizeof(float));
      a[step & 1][x] = v.x, a[step & 1][x + 1] = v.y, a[step & 1][x + 2] = v.z, a[step & 1][x + 3] = v.w;
    }
#pragma unroll
    for (int y = 0; y < S::item_n; y += 4) {
      const float4 v = shared_load(at_b + column(y) * sizeof(float));
      b[step & 1][y] = v.x, b[step & 1][y + 1] = v.y, b[step & 1][y + 2] = v.z, b[step & 1][y + 3] = v.w;
    }
  }

  // Multiplies successive rows in alternating directions, so that consecutive multiply-adds share
  // an operand. The register file reads two operands per cycle; it need not read the shared one
  // again.
  __device__ __forceinline__ void multiply(int step)
  {
#pragma unroll
    for (int x = 0; x < S::item_m; x++)
#pragma unroll
      for (int along = 0; along < S::item_n; along++) {
        const int y = x & 1 ? S::item_n - 1 - along : along;
        sums[x][y] = fmaf(a[step & 1][x], b[step & 1][y], sums[x][y]);
      }
  }
};

// Four neighbouring elements of type T: quad_of<T>::type is float4 or, for double, double_quad.
struct __align__(16) double_quad
{
  double x, y, z, w;
};
template <class T> struct quad_of {
  typedef float4 type;
};
template <> struct quad_of<double> {
  typedef double_quad type;
};

// Stores four neighbours of a row of C, of which only the first `valid` exist.
template <class T>
static __device__ __forceinline__ void warptile_store(T *out, typename quad_of<T>::type sum, int valid,
                                                      bool aligned, double alpha, double beta)
{
  typedef typename quad_of<T>::type quad;
  if (aligned && valid >= 4) {
    const T by = (T)alpha, old_by = (T)beta;
    quad v = {by * sum.x, by * sum.y, by * sum.z, by * sum.w};
    if (beta != 0) {
      const quad old = *(const quad *)out;
      v.x = fma(old_by, old.x, v.x), v.y = fma(old_by, old.y, v.y);
      v.z = fma(old_by, old.z, v.z), v.w = fma(old_by, old.w, v.w);
    }
    *(quad *)out = v;
    return;
  }
  if (valid > 0) result_store(out, sum.x, alpha, beta);
  if (valid > 1) result_store(out + 1, sum.y, alpha, beta);
  if (valid > 2) result_store(out + 2, sum.z, alpha, beta);
  if (valid > 3) result_store(out + 3, sum.w, alpha, beta);
}

static __device__ __forceinline__ bool warptile_aligned(const cuda_job &job)
{
  return job.ldc % 4 == 0 && (uintptr_t)job.c % 16 == 0;
}

template <class S>
static __device__ __forceinline__ void warptile_finish(const warptile_item<S> &item, const cuda_job &job,
                                                       const corner &at)
{
  const bool aligned = warptile_aligned(job);
#pragma unroll
  for (int x = 0; x < S::item_m; x++) {
    const int i = at.i + item.i + item.row(x);
    float *out = job.c + i * job.ldc;
#pragma unroll
    for (int y = 0; y < S::item_n; y += 4) {
      const int j = at.j + item.j + item.column(y);
      const float4 sum = {item.sums[x][y], item.sums[x][y + 1], item.sums[x][y + 2], item.sums[x][y + 3]};
      if (i < job.m) warptile_store(out + j, sum, job.n - j, aligned, job.alpha, job.beta);
    }
  }
}

// Returns the job of one part of k, whose sums are stored in the work space: one matrix of C's size
// per part.
static __device__ __forceinline__ cuda_job warptile_partial(const cuda_job &job, int part)
{
  cuda_job partial = job;
  partial.ldc = parts_ld(job.n);
  partial.c = job.work + part * job.m * partial.ldc;
  partial.alpha = 1;
  partial.beta = 0;
  return partial;
}

#endif
