// SPDX-License-Identifier: MIT
// Measures the layout of WMMA fragments.
#include <cuda_fp16.h>
#include <mma.h>

#include "gemm/kernels/cuda/tensor/fragment.h"

using namespace nvcuda;

extern "C" const int fragment_shapes[FRAGMENT_SHAPES][2] = {{16, 16}, {32, 8}, {8, 32}};

template <int rows, int columns, class T> struct numbered {
  T x[rows * columns];
  __device__ void fill(bool by_columns)
  {
    for (int i = threadIdx.x; i < rows * columns; i += 32)
      x[by_columns ? i % columns * rows + i / columns : i] = (T)(float)i;
    __syncwarp();
  }
};

template <class Fragment> static __device__ void map_write(const Fragment &fragment, struct fragment_map *map)
{
  if (threadIdx.x == 0) map->elements = fragment.num_elements;
  for (int i = 0; i < fragment.num_elements; i++) map->at[threadIdx.x][i] = (int16_t)(float)fragment.x[i];
}

template <int m, int n, class Layout> static __device__ void map_operand(bool is_b, struct fragment_map *map)
{
  const bool by_columns = std::is_same<Layout, wmma::col_major>::value;
  if (is_b) {
    __shared__ __align__(32) numbered<16, n, __half> matrix;
    wmma::fragment<wmma::matrix_b, m, n, 16, __half, Layout> fragment;
    matrix.fill(by_columns);
    wmma::load_matrix_sync(fragment, matrix.x, by_columns ? 16 : n);
    map_write(fragment, map);
  } else {
    __shared__ __align__(32) numbered<m, 16, __half> matrix;
    wmma::fragment<wmma::matrix_a, m, n, 16, __half, Layout> fragment;
    matrix.fill(by_columns);
    wmma::load_matrix_sync(fragment, matrix.x, by_columns ? m : 16);
    map_write(fragment, map);
  }
}

template <int m, int n, class T> static __device__ void map_sum(bool by_columns, struct fragment_map *map)
{
  __shared__ __align__(32) numbered<m, n, T> matrix;
  wmma::fragment<wmma::accumulator, m, n, 16, T> fragment;
  matrix.fill(by_columns);
  wmma::load_matrix_sync(fragment, matrix.x, by_columns ? m : n,
                         by_columns ? wmma::mem_col_major : wmma::mem_row_major);
  map_write(fragment, map);
}

template <int m, int n>
static __global__ void __launch_bounds__(32) map_kernel(fragment_kind kind, struct fragment_map *map)
{
#if __CUDA_ARCH__ >= 700
  if (kind.use == FRAGMENT_SUM_HALF)
    map_sum<m, n, __half>(kind.by_columns, map);
  else if (kind.use == FRAGMENT_SUM_FLOAT)
    map_sum<m, n, float>(kind.by_columns, map);
  else if (kind.by_columns)
    map_operand<m, n, wmma::col_major>(kind.use == FRAGMENT_B, map);
  else
    map_operand<m, n, wmma::row_major>(kind.use == FRAGMENT_B, map);
#endif
}

extern "C" cudaError_t fragment_map_measure(const struct fragment_kind *kind, struct fragment_map *map,
                                            cudaStream_t stream)
{
  void (*const kernels[])(fragment_kind, struct fragment_map *) = {map_kernel<16, 16>, map_kernel<32, 8>,
                                                                   map_kernel<8, 32>};
  kernels[kind->shape]<<<1, 32, 0, stream>>>(*kind, map);
  return cudaGetLastError();
}
