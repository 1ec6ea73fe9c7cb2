// SPDX-License-Identifier: MIT
// Copies of an operand that are made before a product: with rows that TMA can address, with rows
// along k, or rounded to TF32.
#ifndef GEMM_KERNELS_CUDA_TENSOR_RECAST_CUH
#define GEMM_KERNELS_CUDA_TENSOR_RECAST_CUH

#include <stdint.h>

// Returns the leading dimension, in elements of `size` bytes, that pads rows to 128-byte lines.
static inline int64_t padded(int64_t elements, int64_t size)
{
  int64_t line = 128 / size;
  return (elements + line - 1) / line * line;
}

// Extracts sixteen bytes from 32, starting at byte `shift` (an even number below 16).
static __device__ __forceinline__ uint4 bytes_from(uint4 low, uint4 high, unsigned shift)
{
  if (shift & 8) low = make_uint4(low.z, low.w, high.x, high.y), high = make_uint4(high.z, high.w, 0, 0);
  if (shift & 4) low = make_uint4(low.y, low.z, low.w, high.x), high.x = high.y;
  if (shift & 2)
    low = make_uint4(__funnelshift_r(low.x, low.y, 16), __funnelshift_r(low.y, low.z, 16),
                     __funnelshift_r(low.z, low.w, 16), __funnelshift_r(low.w, high.x, 16));
  return low;
}

// Copies 16-bit elements into padded rows, one block per row. Two aligned loads supply 16 bytes of
// the new row, except if they would reach beyond the matrix.
static __global__ void repack_kernel(const uint16_t *from, int64_t ld, int rows, int columns, uint16_t *to,
                                     int64_t to_ld)
{
  const uintptr_t begin = (uintptr_t)from, end = (uintptr_t)(from + (rows - 1) * ld + columns);
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const uint16_t *source = from + row * ld;
    const unsigned shift = (uintptr_t)source & 15;
    const uintptr_t words = (uintptr_t)source - shift;
    uint4 *out = (uint4 *)(to + row * to_ld);
#pragma unroll 4
    for (int i = threadIdx.x; i < (columns + 7) / 8; i += blockDim.x) {
      uintptr_t at = words + 16 * (uintptr_t)i;
      if (at >= begin && at + 32 <= end) {
        out[i] = bytes_from(__ldcs((const uint4 *)at), __ldg((const uint4 *)at + 1), shift);
      } else {
        uint16_t x[8];
        for (int j = 0; j < 8; j++) x[j] = 8 * i + j < columns ? source[8 * i + j] : 0;
        out[i] = make_uint4(x[0] | x[1] << 16, x[2] | x[3] << 16, x[4] | x[5] << 16, x[6] | x[7] << 16);
      }
    }
  }
}

// Rounds to TF32 like TMA: to the nearest, ties to even.
struct recast_tf32 {
  float *out;
  int64_t ld;
  __device__ __forceinline__ void put(int64_t row, int k, const float (&x)[4]) const
  {
    uint32_t y[4];
    for (int i = 0; i < 4; i++) asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(y[i]) : "f"(x[i]));
    *(uint4 *)(out + row * ld + k) = make_uint4(y[0], y[1], y[2], y[3]);
  }
};

// Copies rows that run along k. Each thread copies four elements, with zeros beyond k. In the grid,
// x selects elements along k, and y strides over rows.
static __global__ void recast_along(const float *from, int64_t ld, int rows, int k, recast_tf32 sink)
{
  const int at = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= k) return;
  const bool whole = at + 4 <= k && ld % 4 == 0 && (uintptr_t)from % 16 == 0;
#pragma unroll 2
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    const float *source = from + row * ld + at;
    float x[4];
    if (whole) {
      *(float4 *)x = __ldcs((const float4 *)source);
    } else {
      for (int i = 0; i < 4; i++) x[i] = at + i < k ? source[i] : 0;
    }
    sink.put(row, at, x);
  }
}

// Transposes rows that run across k, in 64×64 tiles in shared memory, with 256 threads. In the
// grid, x selects 64 of the new rows, and y strides along k.
static __global__ void recast_across(const float *from, int64_t ld, int rows, int k, recast_tf32 sink)
{
  __shared__ float tile[64][65];
  const int row0 = 64 * blockIdx.x, along = threadIdx.x % 64, group = threadIdx.x / 64;
  for (int k0 = 64 * blockIdx.y; k0 < k; k0 += 64 * gridDim.y) {
#pragma unroll
    for (int i = 0; i < 16; i++) {
      int depth = k0 + 4 * i + group;
      tile[4 * i + group][along] =
          depth < k && row0 + along < rows ? __ldcs(from + depth * ld + row0 + along) : 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++) {
      int row = 16 * i + threadIdx.x / 16, depth = threadIdx.x % 16 * 4;
      float x[4];
      for (int j = 0; j < 4; j++) x[j] = tile[depth + j][row];
      if (row0 + row < rows && k0 + depth < k) sink.put(row0 + row, k0 + depth, x);
    }
    __syncthreads();
  }
}

static inline cudaError_t repack(const uint16_t *from, int64_t ld, int rows, int columns, uint16_t *to,
                                 int64_t to_ld, cudaStream_t stream)
{
  repack_kernel<<<rows, 256, 0, stream>>>(from, ld, rows, columns, to, to_ld);
  return cudaGetLastError();
}

// Copies `from` to `rows` rows of k elements. If `turned`, `from` has k rows of `rows` elements.
static inline cudaError_t recast(const float *from, int64_t ld, int turned, int rows, int k,
                                 const recast_tf32 &sink, cudaStream_t stream)
{
  if (turned) {
    dim3 grid((rows - 1) / 64 + 1, min((k - 1) / 64 + 1, 64));
    recast_across<<<grid, 256, 0, stream>>>(from, ld, rows, k, sink);
  } else {
    dim3 grid((k - 1) / 1024 + 1, min(rows, 4096));
    recast_along<<<grid, 256, 0, stream>>>(from, ld, rows, k, sink);
  }
  return cudaGetLastError();
}

#endif
