// SPDX-License-Identifier: MIT
// The warptile kernel for every chip, leading dimension and transposition. Threads copy tiles three
// tiles ahead. Operands whose rows run along k are transposed by copying single floats.
#ifndef GEMM_KERNELS_CUDA_FP32_WARPTILE_COPY_CUH
#define GEMM_KERNELS_CUDA_FP32_WARPTILE_COPY_CUH

#include "gemm/kernels/cuda/fp32/warptile.cuh"
#include "gpu/cuda/cuda_overlap.cuh"

#define COPY_STAGES 4
#define COPY_PAD    4 // padding in floats, against bank conflicts of transposing copies

// A thread's share of an operand's tiles, which have one row per step of k. Its copies have one
// constant stride in device memory and another in shared memory. The copies inside the matrix come
// first.
template <int extent, int depth, int threads> struct tile_copy {
  static_assert(threads % depth == 0 && threads % extent == 0, "a thread's copies lie in a line");
  static constexpr int pitch = extent + COPY_PAD, bytes = depth * pitch * (int)sizeof(float);
  static constexpr int share = extent * depth / threads;
  const float *from;
  int64_t step,
      // step: elements between copies; rewind: elements from the last copy's end to the next tile
      rewind;
  uint32_t to, to_step; // bytes
  int k, k_step;        // k of the first copy, and distance in k between copies
  int inside;           // number of copies inside the matrix along m or n
  bool quads;           // true: a copy has four neighbours along m or n, aligned to 16 bytes

  __device__ __forceinline__ void begin(const float *matrix, int64_t ld, bool runs_along_k, int first,
                                        int all, int l)
  {
    quads = !runs_along_k && ld % 4 == 0 && (uintptr_t)matrix % 16 == 0 && all % 4 == 0;
    const int wide = quads ? 4 : 1, across = extent / wide, id = threadIdx.x;
    const int x = runs_along_k ? id / depth : id % across * wide, x_step = runs_along_k ? threads / depth : 0;
    const int left = max(0, all - first - x);
    k = runs_along_k ? id % depth : id / across;
    k_step = runs_along_k ? 0 : threads / across;
    inside = runs_along_k ? (left + x_step - 1) / x_step : left > 0 ? share : 0;
    step = runs_along_k ? x_step * ld : k_step * ld;
    rewind = (runs_along_k ? depth : depth * ld) - share / wide * step;
    from = matrix + (runs_along_k ? (first + x) * ld + l + k : (l + k) * ld + first + x);
    to = (uint32_t)(k * pitch + x) * (uint32_t)sizeof(float);
    to_step = (uint32_t)(k_step * pitch + x_step) * (uint32_t)sizeof(float);
  }

  // Returns the number of copies inside the matrix if \a k_left steps of k are left.
  __device__ __forceinline__ int valid(int k_left) const
  {
    if (k_left >= depth) return inside;
    if (k_left <= k) return 0;
    return k_step == 0 ? inside : min(inside, (k_left - k - 1) / k_step + 1);
  }

  // Copies the next tile, of which \a k_left steps of k are inside the matrix.
  __device__ __forceinline__ void copy(uint32_t stage, int k_left)
  {
    const int count = valid(k_left);
    if (quads) {
#pragma unroll
      for (int n = 0; n < share / 4; n++, from += step) copy_quad(stage + to + n * to_step, from, n < count);
    } else {
#pragma unroll
      for (int n = 0; n < share; n++, from += step) copy_float(stage + to + n * to_step, from, n < count);
    }
    from += rewind;
  }
};

template <class S> struct copy_stage {
  typedef tile_copy<S::m, S::k, S::threads> side_a;
  typedef tile_copy<S::n, S::k, S::threads> side_b;
  static constexpr int bytes = side_a::bytes + side_b::bytes;
};

// Multiplies the tiles of k from `first` up to, but not including, `end`.
template <class S>
static __device__ __forceinline__ void copy_multiply(const cuda_job &job, const corner &at, int first,
                                                     int end, warptile_item<S> &item)
{
  typedef copy_stage<S> stage;
  __shared__ __align__(16) char tiles[COPY_STAGES * stage::bytes];
  const uint32_t begin = shared_address(tiles);
  typename stage::side_a side_a;
  typename stage::side_b side_b;
  side_a.begin(job.a, job.lda, !job.trans_a, at.i, job.m, first * S::k);
  side_b.begin(job.b, job.ldb, job.trans_b, at.j, job.n, first * S::k);
  item.begin();
  auto ask = [&](int tile) {
    const uint32_t to = begin + tile % COPY_STAGES * stage::bytes;
    if (tile < end) {
      side_a.copy(to, job.k - tile * S::k);
      side_b.copy(to + side_a.bytes, job.k - tile * S::k);
    }
    copies_commit();
  };
  for (int tile = first; tile < first + COPY_STAGES - 1; tile++) ask(tile);
#pragma unroll 1
  for (int tile = first; tile < end; tile++) {
    copies_wait<COPY_STAGES - 2>();
    __syncthreads();
    ask(tile + COPY_STAGES - 1);
    const uint32_t from = begin + tile % COPY_STAGES * stage::bytes;
    const uint32_t at_a = from + item.i * sizeof(float), at_b = from + side_a.bytes + item.j * sizeof(float);
    // The previous tile's last step is multiplied while the current tile's first step arrives.
#pragma unroll
    for (int step = 0; step < S::k; step++) {
      item.load(step, at_a + step * side_a.pitch * sizeof(float), at_b + step * side_b.pitch * sizeof(float));
      item.multiply(step + 1);
    }
  }
  item.multiply(S::k - 1);
}

// If k has several parts, blockIdx.y is the part's number, and sums are stored in the work space.
template <class S>
static __global__ void __launch_bounds__(S::threads, S::blocks)
    warptile_copy(const CUDA_GRID_CONSTANT cuda_job job)
{
  const corner at = warptile_corner(blockIdx.x, (job.m - 1) / S::m + 1, (job.n - 1) / S::n + 1, S::m, S::n);
  const int64_t all = (job.k - 1) / S::k + 1, part = blockIdx.y, parts = gridDim.y;
  warptile_item<S> item;
  copy_multiply<S>(job, at, (int)(all * part / parts), (int)(all * (part + 1) / parts), item);
  if (parts == 1) return warptile_finish(item, job, at);
  warptile_finish(item, warptile_partial(job, (int)part), at);
}

// Sums the partial products (one per part of k) of four adjacent elements of C: of a row, or of a
// column if partial products are stored transposed (`turned`). Each warp adds every PARTS_WARPS-th
// part, in order; then the warps' sums are added in order.
#define PARTS_WARPS 8
template <class T>
static __global__ void __launch_bounds__(32 * PARTS_WARPS)
    warptile_combine(const CUDA_GRID_CONSTANT cuda_job job, const T *parts, int count, int64_t part,
                     int64_t ld, int turned)
{
  typedef typename quad_of<T>::type quad;
  __shared__ quad sums[PARTS_WARPS][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int across = turned ? job.n : (job.n - 1) / 4 + 1;
  const int64_t at = blockIdx.x * 32ll + lane;
  const int high = (int)(at / across), low = (int)(at % across);
  const int i = turned ? 4 * high : high, j = turned ? low : 4 * low;
  const T *from = parts + (turned ? j * ld + i : i * ld + j);
  quad sum = {0, 0, 0, 0};
  next_may_start();
  wait_for_previous();
  if (i < job.m)
#pragma unroll 4
    for (int which = warp; which < count; which += PARTS_WARPS) {
      const quad v = *(const quad *)(from + which * part);
      sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || i >= job.m) return;
  for (int other = 1; other < blockDim.x / 32; other++) {
    const quad v = sums[other][lane];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  T *out = (T *)job.c + i * job.ldc + j;
  if (!turned) return warptile_store(out, sum, job.n - j, warptile_aligned(job), job.alpha, job.beta);
  const T rows[] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
  for (int x = 0; x < 4; x++)
    if (i + x < job.m) result_store(out + x * job.ldc, rows[x], job.alpha, job.beta);
}

#endif
