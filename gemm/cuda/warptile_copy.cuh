// SPDX-License-Identifier: MIT
// The warptile kernel for every chip, every leading dimension and every transposition: threads copy for themselves, four
// tiles deep, and what runs along k is turned on the way by copies of single floats.
#ifndef GEMM_CUDA_WARPTILE_COPY_CUH
#define GEMM_CUDA_WARPTILE_COPY_CUH

#include "gemm/cuda/warptile.cuh"

#define COPY_STAGES 4
#define COPY_PAD    4 // floats; copies that turn then meet no bank twice

// A thread's share of an operand's tiles, which have a row a step of k.
template <int extent, int depth, int threads> struct tile_copy {
  static constexpr int pitch = extent + COPY_PAD, bytes = depth * pitch * (int)sizeof(float);
  static constexpr int share = extent * depth / threads;
  const float *data;
  int64_t along, down; // elements from one to the next along m or n, and along k
  int first, count;    // of the tile's rows or columns, and how many there are of them
  bool quads;          // four neighbours along m or n lie in one aligned vector

  __device__ __forceinline__ void begin(const float *matrix, int64_t ld, bool runs_along_k, int from, int all)
  {
    data = matrix;
    along = runs_along_k ? ld : 1;
    down = runs_along_k ? 1 : ld;
    first = from;
    count = all;
    quads = !runs_along_k && ld % 4 == 0 && (uintptr_t)matrix % 16 == 0 && all % 4 == 0;
  }

  // The tile whose first step is l, of k in all.
  __device__ __forceinline__ void copy(uint32_t to, int l, int k) const
  {
    if (quads) {
#pragma unroll
      for (int n = 0; n < share / 4; n++) {
        const int id = threadIdx.x + n * threads, x = id % (extent / 4) * 4, y = id / (extent / 4);
        const bool valid = first + x < count && l + y < k;
        copy_quad(to + (y * pitch + x) * (int)sizeof(float), valid ? data + (l + y) * down + first + x : data,
                  valid);
      }
      return;
    }
    const bool turns = down == 1;
#pragma unroll
    for (int n = 0; n < share; n++) {
      const int id = threadIdx.x + n * threads;
      const int x = turns ? id / depth : id % extent, y = turns ? id % depth : id / extent;
      const bool valid = first + x < count && l + y < k;
      copy_float(to + (y * pitch + x) * (int)sizeof(float),
                 valid ? data + (first + x) * along + (l + y) * down : data, valid);
    }
  }
};

template <class S> struct copy_stage {
  typedef tile_copy<S::m, S::k, S::threads> side_a;
  typedef tile_copy<S::n, S::k, S::threads> side_b;
  static constexpr int bytes = side_a::bytes + side_b::bytes;
};

// Tiles of k from `first` to `end`.
template <class S>
static __device__ __forceinline__ void copy_multiply(const fp32_job &job, const corner &at, int first,
                                                     int end, warptile_item<S> &item)
{
  typedef copy_stage<S> stage;
  __shared__ __align__(16) char tiles[COPY_STAGES * stage::bytes];
  const uint32_t begin = shared_address(tiles);
  typename stage::side_a side_a;
  typename stage::side_b side_b;
  side_a.begin(job.a, job.lda, !job.trans_a, at.i, job.m);
  side_b.begin(job.b, job.ldb, job.trans_b, at.j, job.n);
  item.begin();
  auto ask = [&](int tile) {
    const uint32_t to = begin + tile % COPY_STAGES * stage::bytes;
    if (tile < end) {
      side_a.copy(to, tile * S::k, job.k);
      side_b.copy(to + side_a.bytes, tile * S::k, job.k);
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
    // The last tile's last step is multiplied while this one's first arrives.
#pragma unroll
    for (int step = 0; step < S::k; step++) {
      item.load(step, at_a + step * side_a.pitch * sizeof(float), at_b + step * side_b.pitch * sizeof(float));
      item.multiply(step + 1);
    }
  }
  item.multiply(S::k - 1);
}

// With parts of k, each along the grid's y, the sums go to the job's work: a matrix m×n a part.
template <class S>
static __global__ void __launch_bounds__(S::threads, S::blocks)
    warptile_copy(const CUDA_GRID_CONSTANT fp32_job job)
{
  const corner at = warptile_corner(blockIdx.x, (job.m - 1) / S::m + 1, (job.n - 1) / S::n + 1, S::m, S::n);
  const int64_t all = (job.k - 1) / S::k + 1, part = blockIdx.y, parts = gridDim.y;
  warptile_item<S> item;
  copy_multiply<S>(job, at, (int)(all * part / parts), (int)(all * (part + 1) / parts), item);
  if (parts == 1) return warptile_finish(item, job, at);
  fp32_job partial = job;
  partial.c = job.work + part * job.m * job.n;
  partial.ldc = job.n;
  partial.alpha = 1;
  partial.beta = 0;
  warptile_finish(item, partial, at);
}

// Adds up the parts in their order.
static __global__ void __launch_bounds__(256)
    warptile_combine(const CUDA_GRID_CONSTANT fp32_job job, int parts)
{
  const int64_t all = (int64_t)job.m * job.n;
  for (int64_t at = blockIdx.x * 256ll + threadIdx.x; at < all; at += gridDim.x * 256ll) {
    float sum = 0;
    for (int part = 0; part < parts; part++) sum += job.work[part * all + at];
    result_store(job.c + at / job.n * job.ldc + at % job.n, sum, job.alpha, job.beta);
  }
}

#endif
