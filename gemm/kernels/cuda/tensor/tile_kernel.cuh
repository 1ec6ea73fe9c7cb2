// SPDX-License-Identifier: MIT
// The loop that the wmma, mma and dmma rungs share. A block of warps computes a tile of C from
// stages in shared memory, which are filled in advance. Each warp multiplies its own part. The
// operands of a step are loaded into registers during the step before.
#ifndef GEMM_KERNELS_CUDA_TENSOR_TILE_KERNEL_CUH
#define GEMM_KERNELS_CUDA_TENSOR_TILE_KERNEL_CUH

#include <type_traits>

#include "gemm/kernels/cuda/cuda_gemm.h"
#include "gemm/kernels/cuda/tensor/tile_load.cuh"
#include "gemm/kernels/cuda/tensor/tile_order.cuh"
#include "gpu/cuda/cuda_device.h"

template <class E> struct tile_args {
  typedef typename std::conditional<sizeof(E) == sizeof(double), double, float>::type scalar;
  tile_source<E> a, b;
  void *c;
  int64_t ldc;
  int64_t part; // elements between the sums of consecutive parts of k in `c`
  int m, n, k;
  int aligned; // 1 if every stored row of A and B begins at a multiple of 16 bytes
  scalar alpha, beta;
  tile_order order;
};

// Returns the number of stages of \a bytes bytes that fit the shared memory of every chip that runs
// code for sm_`arch`. Code for 8.0 also runs on 8.6 and 8.9, which have less shared memory. Before
// Ampere, copies are not asynchronous, and two stages alternate. `most`: largest useful number.
static constexpr int tile_stages(int arch, int bytes, int most)
{
  const int fit = (arch == 90 || arch / 10 == 10 || arch / 10 == 11 ? 227 : 99) * 1024 / bytes;
  return arch < 80 || fit < 2 ? 2 : fit > most ? most : fit;
}

// trans_a: A is stored along m, not k; trans_b: B along k, not n. `whole`: see tile_reader.
template <int m_, int n_, int k_, int warp_m_, int warp_n_, bool trans_a_, bool trans_b_, bool whole_,
          class E = uint16_t, int stages_ = 4>
struct tile_shape {
  typedef E element;
  static constexpr bool trans_a = trans_a_, trans_b = trans_b_, whole = whole_;
  static constexpr int m = m_, n = n_, k = k_, warp_m = warp_m_, warp_n = warp_n_;
  static constexpr int down = m / warp_m, threads = down * (n / warp_n) * 32;
  static constexpr int a_rows = trans_a ? k : m, a_columns = trans_a ? m : k;
  static constexpr int b_rows = trans_b ? n : k, b_columns = trans_b ? k : n;
  static constexpr int a_pitch = a_columns + tile_pad<E>, b_pitch = b_columns + tile_pad<E>;
  static constexpr int a_elements = a_rows * a_pitch, b_elements = b_rows * b_pitch;
  static constexpr int stage = a_elements + b_elements, stages_most = stages_;
#ifdef __CUDA_ARCH__
  static constexpr int stages = tile_stages(__CUDA_ARCH__ / 10, stage * sizeof(E), stages_most);
#endif
};

// If k has several parts, blockIdx.y is the number of the part.
// Class W multiplies. W::load_a<s>(i, a, k) and W::load_b<s>(j, b, k) load W::step steps of k of
// fragment i of the W::down fragments of A, and of fragment j of the W::across fragments of B, into
// the s-th set of registers. W::multiply<s>(i) multiplies fragment i of A by all fragments of B.
// W::store(args, m, n, shared) stores the sums. If W::ahead, there are two sets: one is filled
// while the other is multiplied. Otherwise another block on the multiprocessor has to hide the
// latency.
template <class W> struct tile_march {
  typedef typename W::S S;
  typedef typename S::element E;
  static_assert(!W::ahead || S::k % (2 * W::step) == 0, "two sets of registers alternate");
  tile_reader<E, S::a_rows, S::a_columns, S::threads, !S::trans_a, S::whole> a;
  tile_reader<E, S::b_rows, S::b_columns, S::threads, S::trans_b, S::whole> b;
  E *shared;
  const bool aligned;
  int a_first, b_first; // this warp's offsets in a stage, in elements

  __device__ __forceinline__ tile_march(const tile_args<E> &args, E *shared, int m, int n, int k)
      : a(args.a, S::trans_a ? k : m, S::trans_a ? m : k), b(args.b, S::trans_b ? n : k, S::trans_b ? k : n),
        shared(shared), aligned(args.aligned)
  {
    const int warp = threadIdx.x / 32, warp_m = warp % S::down * S::warp_m,
              warp_n = warp / S::down * S::warp_n;
    a_first = S::trans_a ? warp_m : warp_m * S::a_pitch;
    b_first = S::a_elements + (S::trans_b ? warp_n * S::b_pitch : warp_n);
  }

  __device__ __forceinline__ void fetch(int stage)
  {
    a.load(shared + stage, aligned);
    b.load(shared + stage + S::a_elements, aligned);
    copies_commit();
  }

  // Waits until the oldest stage in flight has arrived, and all warps have read the stage that is
  // overwritten next.
  __device__ __forceinline__ void land() const
  {
    copies_wait<S::stages - 2>();
    __syncthreads();
  }

  template <int set> __device__ __forceinline__ void load(W &tile, int stage, int k, int i) const
  {
    constexpr int b_each = (W::across + W::down - 1) / W::down;
    tile.template load_a<set>(i, shared + stage + a_first, k);
#pragma unroll
    for (int j = i * b_each; j < (i + 1) * b_each && j < W::across; j++)
      tile.template load_b<set>(j, shared + stage + b_first, k);
  }

  // Multiplies one set of registers while the other is loaded for the next step.
  template <int set> __device__ __forceinline__ void work(W &tile, int stage, int k) const
  {
#pragma unroll
    for (int i = 0; i < W::down; i++) {
      load<1 - set>(tile, stage, k, i);
      asm volatile("" ::: "memory"); // keeps the compiler from moving all loads to their uses
      tile.template multiply<set>(i);
    }
  }

  // Multiplies a whole stage; its last step is combined with the first load of the next
  // stage. Copies of a long stage are requested only after the tensor cores have work.
  __device__ __forceinline__ void stage_ahead(W &tile, int &read, int &write)
  {
    const bool is_short = S::k == 2 * W::step;
    if (is_short) fetch(write);
#pragma unroll
    for (int k = 0; k < S::k - 2 * W::step; k += 2 * W::step) {
      work<0>(tile, read, k + W::step);
      if (k == 0) fetch(write);
      work<1>(tile, read, k + 2 * W::step);
    }
    work<0>(tile, read, S::k - W::step);
    advance(read, write);
    land();
    work<1>(tile, read, 0);
  }

  __device__ __forceinline__ void stage_plain(W &tile, int &read, int &write)
  {
    fetch(write);
#pragma unroll
    for (int k = 0; k < S::k; k += W::step) {
#pragma unroll
      for (int i = 0; i < W::down; i++) load<0>(tile, read, k, i);
#pragma unroll
      for (int i = 0; i < W::down; i++) tile.template multiply<0>(i);
    }
    advance(read, write);
    land();
  }

  __device__ __forceinline__ static void advance(int &read, int &write)
  {
    write = read;
    read = read + S::stage == S::stages * S::stage ? 0 : read + S::stage;
  }

  __device__ __forceinline__ void run(W &tile, int steps)
  {
    int read = 0, write = (S::stages - 1) * S::stage;
#pragma unroll
    for (int stage = 0; stage < S::stages - 1; stage++) fetch(stage * S::stage);
    land();
    if constexpr (W::ahead) {
#pragma unroll
      for (int i = 0; i < W::down; i++) load<0>(tile, read, 0, i);
    }
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
      if constexpr (W::ahead)
        stage_ahead(tile, read, write);
      else
        stage_plain(tile, read, write);
    }
    copies_wait<0>();
    __syncthreads();
  }
};

template <class W>
static __device__ __forceinline__ void tile_product(const tile_args<typename W::S::element> &args,
                                                    typename W::S::element *shared)
{
  typedef typename W::S S;
  const int warp = threadIdx.x / 32;
  int row, column;
  args.order.place(blockIdx.x, &row, &column);
  const int m = row * S::m, n = column * S::n;
  const int64_t all = (args.k - 1) / S::k + 1, part = blockIdx.y, parts = gridDim.y;
  const int first = (int)(all * part / parts), end = (int)(all * (part + 1) / parts);
  W tile;
  tile_march<W>(args, shared, m, n, first * S::k).run(tile, end - first);
  tile.store(args, m + warp % S::down * S::warp_m, n + warp / S::down * S::warp_n, shared);
}

// The host side.

// Rows of tiles per band, so that the tiles computed concurrently cover about a square of C.
#define TILE_BAND 12

// `each`: elements in 16 bytes.
static inline bool tile_is_aligned(const void *data, int64_t ld, int each)
{
  return ld % each == 0 && (uintptr_t)data % 16 == 0;
}

// Returns whether the kernels for `whole` shapes can be used, see tile_reader.
static inline bool tile_is_whole(const cuda_job *job, int each)
{
  return tile_is_aligned(job->a, job->lda, each) && tile_is_aligned(job->b, job->ldb, each) &&
         (job->trans_a ? job->m : job->k) % each == 0 && (job->trans_b ? job->k : job->n) % each == 0;
}

template <class E>
static tile_args<E> tile_args_of(const cuda_job *job, int tile_m, int tile_n, int band = TILE_BAND)
{
  const int each = 16 / sizeof(E);
  tile_args<E> args = {};
  args.a = tile_source<E>{(const E *)job->a, job->lda, job->trans_a ? job->k : job->m,
                          job->trans_a ? job->m : job->k};
  args.b = tile_source<E>{(const E *)job->b, job->ldb, job->trans_b ? job->n : job->k,
                          job->trans_b ? job->k : job->n};
  args.aligned = tile_is_aligned(job->a, job->lda, each) && tile_is_aligned(job->b, job->ldb, each);
  args.c = job->c;
  args.ldc = job->ldc;
  args.m = job->m;
  args.n = job->n;
  args.k = job->k;
  args.alpha = (typename tile_args<E>::scalar)job->alpha;
  args.beta = (typename tile_args<E>::scalar)job->beta;
  args.order = tile_order_of(job->m, job->n, tile_m, tile_n, band);
  return args;
}

// Launches a kernel with the shared memory for its stages or for staging its results, whichever is
// larger.
template <class W, void (*kernel)(tile_args<uint16_t>)>
static cudaError_t tile_launch(const cuda_job *job, cudaStream_t stream)
{
  typedef typename W::S S;
  const tile_args<uint16_t> args = tile_args_of<uint16_t>(job, S::m, S::n);
  int code = 0;
  cudaError_t error = cuda_code_of((const void *)kernel, &code);
  if (error != cudaSuccess) return error;
  const int stage = S::stage * sizeof(uint16_t);
  const int bytes = max(tile_stages(code, stage, S::stages_most) * stage, W::store_bytes);
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  kernel<<<args.order.tiles, S::threads, bytes, stream>>>(args);
  return cudaGetLastError();
}

#endif
