// SPDX-License-Identifier: MIT
// Float32 products on the bfloat16 tensor cores. Each factor is the exact sum of three bfloat16
// (high, middle, low); of the nine products the six that matter to 24 bits are made: what is left
// out is below 2^-24 of |a||b|. The tensor core cuts its sums instead of rounding them, which would
// add up along k (Ootomo and Yokota, 2022, "Recovering single precision accuracy from Tensor Cores
// while surpassing the FP32 theoretical peak performance"), so it sums 32 along k at most, smallest
// products first, and the sums of those are added in float32.
#ifndef GEMM_KERNELS_CUDA_TENSOR_SGEMM_TC_KERNEL_CUH
#define GEMM_KERNELS_CUDA_TENSOR_SGEMM_TC_KERNEL_CUH

#include "gemm/kernels/cuda/tensor/hopper.cuh"
#include "gemm/kernels/cuda/tensor/tile_order.cuh"
#include "gemm/kernels/cuda/tensor/wgmma_kernel.cuh"
#include "gemm/kernels/cuda/tensor/wgmma_op.cuh"

struct sgemm_tc_args {
  int m, n, k;
  float alpha, beta;
  float *c;
  int64_t ldc;
  uint32_t *odd; // a bit an element of C: to be done again in float32; `odd_words` words a row
  int odd_words;
  uint32_t *any_odd;
  tile_order order;
};

template <int columns_, int stages_> struct sgemm_tc_shape {
  static constexpr int rows = 128, columns = columns_, depth = 32, stages = stages_;
  static constexpr int slices = 0;
  static constexpr uint32_t a_plane = rows * 64, b_plane = columns * 64;
  static constexpr uint32_t a_bytes = 3 * a_plane, b_bytes = 3 * b_plane, stage_bytes = a_bytes + b_bytes;
  static constexpr uint32_t slice_bytes = 0;
  static constexpr uint32_t smem_bytes = 1024 + stages * stage_bytes + 16 * stages;
  static constexpr int threads = 384;
};

// Two widths: the wide one moves less, the narrow one leaves less of the chip idle with few tiles.
// `effort`: measured time of a column of a tile.
struct sgemm_tc_wide : sgemm_tc_shape<192, 3> {
  static constexpr double effort = 1;
};
struct sgemm_tc_narrow : sgemm_tc_shape<128, 4> {
  static constexpr double effort = 1.12;
};

template <class S>
static __device__ void sgemm_tc_produce(const wgmma_room<S> &room, const CUtensorMap &a, const CUtensorMap &b,
                                        const sgemm_tc_args &args)
{
  const uint32_t rank = cluster_rank();
  constexpr int half = S::columns / 2;
  ring<S::stages> at;
  map_prefetch(a);
  map_prefetch(b);
  for (int tile = blockIdx.x / 2; tile < args.order.tiles; tile += gridDim.x / 2) {
    int row, column;
    args.order.place(tile, &row, &column);
    int m = (2 * row + rank) * S::rows, n = column * S::columns + rank * half;
    for (int k = 0; k < args.k; k += S::depth) {
      uint32_t full = room.full(at.stage);
      barrier_wait(room.empty(at.stage), at.parity ^ 1);
      barrier_expect(full, S::stage_bytes);
      box_load_3d(room.a(at.stage), a, k, m, 0, full);
      for (int plane = 0; plane < 3; plane++)
        box_load_3d_all(room.b(at.stage) + plane * S::b_plane + rank * half * 64, b, k, n, plane, full, 3);
      at.next();
    }
  }
}

template <class S>
static __device__ __forceinline__ void sgemm_tc_stage(float (&d)[S::columns / 2], uint32_t a_address,
                                                      uint32_t b_address)
{
  constexpr int high = 0, middle = 1, low = 2;
  constexpr int factor[6][2] = {{low, high},    {high, low},    {middle, middle},
                                {middle, high}, {high, middle}, {high, high}};
  uint64_t a = operand(a_address, 16, 512, SWIZZLE_64), b = operand(b_address, 16, 512, SWIZZLE_64);
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < 12; i++)
    wgmma_op<__nv_bfloat16, S::columns>::template run<0, 0>(
        d, a + (factor[i / 2][0] * S::a_plane + i % 2 * 32) / 16,
        b + (factor[i / 2][1] * S::b_plane + i % 2 * 32) / 16, i > 0);
  wgmma_commit();
}

// An infinity times the middle or low part of a finite factor, and sums beyond the range, give what
// float32 would not: such elements are left as they are, and marked.
template <class S>
static __device__ __forceinline__ void sgemm_tc_store(const float (&d)[S::columns / 2],
                                                      const sgemm_tc_args &args, int m, int n)
{
  const int thread = threadIdx.x % 128, lane = thread % 32;
  const int row0 = m + thread / 32 * 16 + lane / 4, column0 = n + lane % 4 * 2;
  const bool pairs = args.ldc % 2 == 0 && (uintptr_t)args.c % 8 == 0 && args.beta == 0;
#pragma unroll
  for (int high = 0; high < 2; high++) {
    int row = row0 + 8 * high;
    if (row >= args.m) continue;
    float *c = args.c + row * args.ldc;
#pragma unroll
    for (int j = 0; j < S::columns / 8; j++) {
      int column = column0 + 8 * j;
      float x = d[4 * j + 2 * high], y = d[4 * j + 2 * high + 1];
      if (pairs && column + 1 < args.n && isfinite(x) && isfinite(y)) {
        *(float2 *)(c + column) = make_float2(args.alpha * x, args.alpha * y);
        continue;
      }
      for (int i = 0; i < 2; i++, column++, x = y) {
        if (column >= args.n) break;
        if (isfinite(x)) {
          c[column] = args.beta == 0 ? args.alpha * x : __fmaf_rn(args.beta, c[column], args.alpha * x);
        } else {
          atomicOr(args.odd + (int64_t)row * args.odd_words + column / 32, 1u << column % 32);
          *args.any_odd = 1;
        }
      }
    }
  }
}

template <class S>
static __device__ void sgemm_tc_consume(const wgmma_room<S> &room, const sgemm_tc_args &args, int group)
{
  const int steps = (args.k + S::depth - 1) / S::depth, thread = threadIdx.x % 128;
  ring<S::stages> at;
  for (int tile = blockIdx.x / 2; tile < args.order.tiles; tile += gridDim.x / 2) {
    int row, column;
    args.order.place(tile, &row, &column);
    float sum[S::columns / 2], part[S::columns / 2];
#pragma unroll
    for (int i = 0; i < S::columns / 2; i++) sum[i] = 0;
    for (int step = 0; step < steps; step++) {
      barrier_wait(room.full(at.stage), at.parity);
      sgemm_tc_stage<S>(part, room.a(at.stage) + group * 64 * 64, room.b(at.stage));
      wgmma_wait<0>();
      registers_fence(part);
      if (thread % 32 == 0 && thread < 64) barrier_arrive_at(room.empty(at.stage), thread / 32);
#pragma unroll
      for (int i = 0; i < S::columns / 2; i++) sum[i] += part[i];
      at.next();
    }
    sgemm_tc_store<S>(sum, args, (2 * row + cluster_rank()) * S::rows + 64 * group, column * S::columns);
  }
}

template <class S>
static __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(S::threads, 1)
    sgemm_tc_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                    const __grid_constant__ sgemm_tc_args args)
{
  extern __shared__ uint8_t shared[];
  const wgmma_room<S> room(shared_address(shared));
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < S::stages; stage++) {
      barrier_init(room.full(stage), 1);
      barrier_init(room.empty(stage), 4);
    }
    barrier_init_fence();
  }
  cluster_sync();
  if (threadIdx.x < 128) {
    registers_less<24>();
    if (threadIdx.x == 0) sgemm_tc_produce<S>(room, a, b, args);
  } else {
    registers_more<240>();
    sgemm_tc_consume<S>(room, args, threadIdx.x / 128 - 1);
  }
  cluster_sync();
}

#endif
