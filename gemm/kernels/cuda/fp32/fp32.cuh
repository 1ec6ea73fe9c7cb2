// SPDX-License-Identifier: MIT
// Common to the float32 rungs. Multiply-adds are written as fmaf, because the build disables
// automatic fusion.
#ifndef GEMM_KERNELS_CUDA_FP32_FP32_CUH
#define GEMM_KERNELS_CUDA_FP32_FP32_CUH

#include "gemm/kernels/cuda/cuda_gemm.h"
#include "gpu/cuda/cuda_device.h"

// Stores an element of C. If beta is 0, C is not read, because it may contain NaN.
template <class T>
static __device__ __forceinline__ void result_store(T *out, T sum, double alpha, double beta)
{
  T value = (T)alpha * sum;
  if (beta != 0) value = fma((T)beta, *out, value);
  *out = value;
}

// a_at returns element (i, l) of A and b_at element (l, j) of B. Neither matrix is transposed.
static __device__ __forceinline__ float a_at(const cuda_job &job, int i, int l)
{
  return job.a[i * job.lda + l];
}

static __device__ __forceinline__ float b_at(const cuda_job &job, int l, int j)
{
  return job.b[l * job.ldb + j];
}

// First row and column of a block's tile. Tiles are numbered row by row along the grid's x, because
// only x is large enough for all tiles.
struct corner {
  int i, j;
};

static __device__ __forceinline__ corner corner_of(int n, int tile_m, int tile_n)
{
  int across = (n - 1) / tile_n + 1;
  return {(int)(blockIdx.x / across) * tile_m, (int)(blockIdx.x % across) * tile_n};
}

static inline int64_t tiles_of(const cuda_job *job, int tile_m, int tile_n)
{
  return ((int64_t)(job->m - 1) / tile_m + 1) * ((job->n - 1) / tile_n + 1);
}

// The host side of a rung with one kernel and one fixed shape.
template <void (*kernel)(cuda_job), int tile_m, int tile_n, int threads> struct fixed_rung {
  static cuda_launch describe(const cuda_job *, const cuda_chip *, const gemm_blocks *)
  {
    return {(const void *)kernel, threads, 0};
  }

  static cudaError_t launch(const cuda_job *job, gemm_type, const cuda_chip *, const gemm_blocks *,
                            cudaStream_t stream)
  {
    int64_t tiles = tiles_of(job, tile_m, tile_n);
    if (tiles > INT32_MAX) return cudaErrorInvalidConfiguration;
    kernel<<<(unsigned)tiles, threads, 0, stream>>>(*job);
    return cudaGetLastError();
  }
};

#endif
