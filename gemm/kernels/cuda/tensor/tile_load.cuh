// SPDX-License-Identifier: MIT
// Loads tiles of matrices, of uint16_t or double, into shared memory without transposing them. If
// rows begin at multiples of 16 bytes, copies are asynchronous. Otherwise, and before Ampere,
// threads copy 16-bit elements one by one to aligned rows, which the tensor cores' loads need.
// Doubles are copied asynchronously in any case.
#ifndef GEMM_KERNELS_CUDA_TENSOR_TILE_LOAD_CUH
#define GEMM_KERNELS_CUDA_TENSOR_TILE_LOAD_CUH

#include <stdint.h>

#include "gemm/kernels/cuda/fp32/async_copy.cuh"

// Padding of a row in shared memory, in elements: rows that a warp reads together begin in
// different banks, and at multiples of 16 bytes.
template <class E> constexpr int tile_pad = sizeof(E) == sizeof(double) ? 4 : 8;

template <class E> struct tile_source {
  const E *data;
  int64_t ld;
  int rows, columns; // as stored
};

// Copies 16 bytes, or writes zeros if not `valid`. A partial copy would count as a read of all 16.
template <class E> static __device__ __forceinline__ void copy_16_bytes(E *to, const E *from, bool valid)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(valid ? 16 : 0)
               : "memory");
#else
  *(uint4 *)to = valid ? *(const uint4 *)from : make_uint4(0, 0, 0, 0);
#endif
}

// Copies eight elements, but writes zeros from index `left` on.
static __device__ __forceinline__ void copy_elements(uint16_t *to, const uint16_t *from, int left)
{
#pragma unroll 1
  for (int i = 0; i < 8; i += 2) {
    uint32_t low = i < left ? from[i] : 0, high = i + 1 < left ? from[i + 1] : 0;
    *(uint32_t *)(to + i) = low | high << 16;
  }
}

// Copies two elements, but writes zeros from index `left` on.
static __device__ __forceinline__ void copy_elements(double *to, const double *from, int left)
{
#pragma unroll
  for (int i = 0; i < 2; i++)
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared_address(to + i)), "l"(from + i),
                 "r"(i < left ? 8 : 0)
                 : "memory");
#else
    to[i] = i < left ? from[i] : 0;
#endif
}

// A thread's share of consecutive tiles along k: 16 bytes of every `hop`-th row. `along`: k
// runs along the stored rows, and the next tile is to the right; otherwise it is below. Elements
// beyond the matrix are zero. `whole`: starts and lengths of stored rows are multiples of 16 bytes.
// Without the branch for other rows, the compiler interleaves copies and products.
template <class E, int rows, int columns, int threads, bool along, bool whole> struct tile_reader {
  static constexpr int each = 16 / sizeof(E), vectors = columns / each, hop = threads / vectors,
                       copies = (rows + hop - 1) / hop, pitch = columns + tile_pad<E>;
  // If unrolled, copies of single doubles are as fast as copies of 16 bytes.
  static constexpr int unrolled = sizeof(E) == sizeof(double) ? copies : 1;
  static_assert(threads % vectors == 0, "a thread stays in its columns");
  const E *at;
  int64_t hop_elements, step_elements;
  int rows_left, columns_left; // numbers of rows and columns from `at` to the matrix's edge
  int offset;                  // offset of the thread's first element in the tile, in elements

  __device__ __forceinline__ tile_reader(const tile_source<E> &from, int row0, int column0)
  {
    int row = threadIdx.x / vectors, column = threadIdx.x % vectors * each;
    at = from.data + (row0 + row) * from.ld + column0 + column;
    hop_elements = hop * from.ld;
    step_elements = along ? columns : rows * from.ld;
    rows_left = from.rows - row0 - row;
    columns_left = from.columns - column0 - column;
    offset = row * pitch + column;
  }

  // Loads the share. All threads set `aligned` if every stored row begins at a multiple of 16
  // bytes. Elements at the end of a row that do not fill 16 bytes are copied one by one.
  __device__ __forceinline__ void load(E *tile, bool aligned)
  {
    const int wide = min(max(columns_left, 0), each);
    if (whole || (aligned && wide % each == 0)) {
#pragma unroll
      for (int i = 0; i < copies; i++)
        if (has(i))
          copy_16_bytes(tile + offset + i * hop * pitch, at + i * hop_elements, i * hop < rows_left && wide);
    } else {
#pragma unroll(unrolled)
      for (int i = 0; i < copies; i++)
        if (has(i))
          copy_elements(tile + offset + i * hop * pitch, at + i * hop_elements,
                        i * hop < rows_left ? wide : 0);
    }
    at += step_elements;
    if (along)
      columns_left -= columns;
    else
      rows_left -= rows;
  }

  // In the last round some threads have no row.
  __device__ __forceinline__ static bool has(int i)
  {
    return rows % hop == 0 || i < copies - 1 || (int)threadIdx.x / vectors + i * hop < rows;
  }
};

#endif
