// SPDX-License-Identifier: MIT
// Tensor maps of matrices for TMA, encoded by the driver.
#ifndef GEMM_KERNELS_CUDA_TENSOR_TENSOR_MAP_CUH
#define GEMM_KERNELS_CUDA_TENSOR_TENSOR_MAP_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#include "gemm/kernels/cuda/tensor/wgmma_op.cuh"
#include "gpu/cuda/cuda_tensor_map.h"

template <class T> struct tensor_map_type;
template <> struct tensor_map_type<__half> {
  static constexpr CUtensorMapDataType value = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
};
template <> struct tensor_map_type<__nv_bfloat16> {
  static constexpr CUtensorMapDataType value = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
};
template <> struct tensor_map_type<tf32_t> {
  static constexpr CUtensorMapDataType value = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
};
template <> struct tensor_map_type<float> {
  static constexpr CUtensorMapDataType value = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
};

// A matrix, and the box of one copy. A row of the box has 128 bytes, the width of the swizzle. Rows
// of the matrix must begin at multiples of 16 bytes.
template <class T> struct tensor_map_shape {
  const T *data;
  int64_t columns, rows, ld; // elements
  int box_columns, box_rows;
};

template <class T> static inline bool tensor_map_make(const tensor_map_shape<T> &s, CUtensorMap *map)
{
  cuda_tensor_map_encode encode;
  const cuuint64_t extent[2] = {(cuuint64_t)s.columns, (cuuint64_t)s.rows};
  const cuuint64_t stride[1] = {(cuuint64_t)s.ld * sizeof(T)};
  const cuuint32_t box[2] = {(cuuint32_t)s.box_columns, (cuuint32_t)s.box_rows};
  const cuuint32_t step[2] = {1, 1};
  return cuda_tensor_map_find(&encode) == cudaSuccess &&
         encode(map, tensor_map_type<T>::value, 2, (void *)s.data, extent, stride, box, step,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

#endif
