// SPDX-License-Identifier: MIT
// f16x2: half precision without tensor cores. Each instruction multiplies pairs of columns, with
// sums in half precision. Blocks of 128×128, 8×8 elements per thread; the next step's operands are
// prefetched into registers.
#include <cuda_fp16.h>

#include "gemm/kernels/cuda/cuda_gemm.h"

#define TILE        128
#define DEPTH       16
#define GRID_Y_MOST 65535
// elements per row of A's transposed tile, padded to align rows to 16 bytes
#define A_ROOM (TILE + 8)

struct f16x2_args {
  const __half *a, *b;
  __half *c;
  int64_t lda, ldb, ldc;
  int m, n, k;
  float alpha, beta;
};

// Loads eight elements of a row, with zeros beyond the matrix.
static __device__ __forceinline__ uint4 row_load(const __half *from, int64_t ld, int rows, int columns,
                                                 int row, int column)
{
  const __half *at = from + row * ld + column;
  if (row < rows && column + 8 <= columns && (uintptr_t)at % 16 == 0) return *(const uint4 *)at;
  __half x[8];
#pragma unroll
  for (int i = 0; i < 8; i++) x[i] = row < rows && column + i < columns ? at[i] : __ushort_as_half(0);
  return *(const uint4 *)x;
}

static __device__ __forceinline__ void store(const f16x2_args &args, const __half2 (&sum)[8][4], int m, int n)
{
#pragma unroll
  for (int i = 0; i < 8; i++) {
    if (m + i >= args.m) break;
    __half *c = args.c + (m + i) * args.ldc + n;
#pragma unroll
    for (int j = 0; j < 8; j++) {
      if (n + j >= args.n) break;
      float x = args.alpha * __half2float(j % 2 ? __high2half(sum[i][j / 2]) : __low2half(sum[i][j / 2]));
      c[j] = __float2half_rn(args.beta == 0 ? x : __fmaf_rn(args.beta, __half2float(c[j]), x));
    }
  }
}

static __global__ void __launch_bounds__(256) f16x2_kernel(f16x2_args args)
{
#if __CUDA_ARCH__ >= 600
  __shared__ __align__(16) __half a_tile[2][DEPTH][A_ROOM], b_tile[2][DEPTH][TILE];
  const int m = blockIdx.y * TILE, n = blockIdx.x * TILE, steps = (args.k + DEPTH - 1) / DEPTH;
  const int a_row = threadIdx.x % TILE, a_column = threadIdx.x / TILE * 8;
  const int b_row = threadIdx.x / 16, b_column = threadIdx.x % 16 * 8;
  const int row = threadIdx.x / 16 * 8, column = threadIdx.x % 16 * 8;
  __half2 sum[8][4] = {};
  uint4 a_next = row_load(args.a, args.lda, args.m, args.k, m + a_row, a_column);
  uint4 b_next = row_load(args.b, args.ldb, args.k, args.n, b_row, n + b_column);
  for (int step = 0; step < steps; step++) {
    __half(*a)[A_ROOM] = a_tile[step % 2];
    __half(*b)[TILE] = b_tile[step % 2];
#pragma unroll
    for (int i = 0; i < 8; i++) a[a_column + i][a_row] = ((const __half *)&a_next)[i];
    *(uint4 *)&b[b_row][b_column] = b_next;
    __syncthreads();
    if (step + 1 < steps) {
      int k = (step + 1) * DEPTH;
      a_next = row_load(args.a, args.lda, args.m, args.k, m + a_row, k + a_column);
      b_next = row_load(args.b, args.ldb, args.k, args.n, k + b_row, n + b_column);
    }
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
      __half left[8];
      __half2 right[4];
      *(uint4 *)left = *(const uint4 *)&a[k][row];
      *(uint4 *)right = *(const uint4 *)&b[k][column];
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j] = __hfma2(__half2half2(left[i]), right[j], sum[i][j]);
    }
  }
  store(args, sum, m + row, n + column);
#endif
}

static cudaError_t f16x2_launch(const cuda_job *job, gemm_type, const cuda_chip *, const gemm_blocks *,
                                cudaStream_t stream)
{
  f16x2_args args = {(const __half *)job->a,
                     (const __half *)job->b,
                     (__half *)job->c,
                     job->lda,
                     job->ldb,
                     job->ldc,
                     job->m,
                     job->n,
                     job->k,
                     (float)job->alpha,
                     (float)job->beta};
  dim3 grid((job->n + TILE - 1) / TILE, (job->m + TILE - 1) / TILE);
  f16x2_kernel<<<grid, 256, 0, stream>>>(args);
  return cudaGetLastError();
}

static const void *f16x2_kernel_of(void)
{
  return (const void *)f16x2_kernel;
}

extern "C" const cuda_operation tensor_f16x2 = {
    f16x2_launch, nullptr, nullptr, nullptr, f16x2_kernel_of, 60, false, true, GRID_Y_MOST *TILE};
