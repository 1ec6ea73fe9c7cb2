// SPDX-License-Identifier: MIT
// Kernels for ceilings: multiply-adds in registers, reads of device memory, reads of shared memory.
#include "gemm/kernels/cuda/peaks.h"

#define THREADS CUDA_PEAK_THREADS
#define CHAINS  16
#define CHUNKS  1024 // 16-byte chunks in shared memory

static __device__ __forceinline__ void keep(float sum, float *out)
{
  if (sum != sum) out[0] = sum;
}

static __global__ void __launch_bounds__(THREADS) fma_kernel(float *out, int rounds)
{
  float sums[CHAINS];
  const float factor = 0.5f, addend = threadIdx.x;
#pragma unroll
  for (int q = 0; q < CHAINS; q++) sums[q] = q;
  for (int round = 0; round < rounds; round++)
#pragma unroll
    for (int n = 0; n < CUDA_PEAK_FMA; n++) sums[n % CHAINS] = fmaf(sums[n % CHAINS], factor, addend);
  float sum = 0;
#pragma unroll
  for (int q = 0; q < CHAINS; q++) sum += sums[q];
  keep(sum, out);
}

// Four neighbouring threads read the same chunk, as in the products' kernels.
static __global__ void __launch_bounds__(THREADS) local_kernel(float *out, int rounds)
{
  __shared__ float4 chunks[CHUNKS];
  float4 sums[4] = {};
  for (int q = threadIdx.x; q < CHUNKS; q += THREADS) chunks[q] = {(float)q, 1, 2, 3};
  __syncthreads();
  for (int round = 0; round < rounds; round++)
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const float4 v = chunks[(threadIdx.x / 4 + round * 64 + q * 256) % CHUNKS];
      sums[q].x += v.x, sums[q].y += v.y, sums[q].z += v.z, sums[q].w += v.w;
    }
  float sum = 0;
#pragma unroll
  for (int q = 0; q < 4; q++) sum += sums[q].x + sums[q].y + sums[q].z + sums[q].w;
  keep(sum, out);
}

static __global__ void __launch_bounds__(THREADS)
    read_kernel(float *out, const float4 *in, int64_t chunks, int rounds)
{
  float sum = 0;
  for (int round = 0; round < rounds; round++)
#pragma unroll 4
    for (int64_t q = blockIdx.x * (int64_t)THREADS + threadIdx.x; q < chunks;
         q += (int64_t)gridDim.x * THREADS) {
      const float4 v = in[q];
      sum += v.x + v.y + v.z + v.w;
    }
  keep(sum, out);
}

extern "C" cudaError_t cuda_peak_fma(float *out, int blocks, int rounds, cudaStream_t stream)
{
  fma_kernel<<<blocks, THREADS, 0, stream>>>(out, rounds);
  return cudaGetLastError();
}

extern "C" cudaError_t cuda_peak_local(float *out, int blocks, int rounds, cudaStream_t stream)
{
  local_kernel<<<blocks, THREADS, 0, stream>>>(out, rounds);
  return cudaGetLastError();
}

extern "C" cudaError_t cuda_peak_read(float *out, const float *in, int64_t n, int blocks, int rounds,
                                      cudaStream_t stream)
{
  read_kernel<<<blocks, THREADS, 0, stream>>>(out, (const float4 *)in, n / 4, rounds);
  return cudaGetLastError();
}
