/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The layout of WMMA fragments, which CUDA leaves unspecified: measures which lane holds
 * which element. Plain C interface of fragment.cu. */
#ifndef GEMM_KERNELS_CUDA_TENSOR_FRAGMENT_H
#define GEMM_KERNELS_CUDA_TENSOR_FRAGMENT_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FRAGMENT_SHAPES       3
#define FRAGMENT_LANES        32
#define FRAGMENT_ELEMENTS_MAX 16

enum fragment_use { FRAGMENT_A, FRAGMENT_B, FRAGMENT_SUM_HALF, FRAGMENT_SUM_FLOAT, FRAGMENT_USES };

/** m and n of the three shapes; k is 16. */
extern const int fragment_shapes[FRAGMENT_SHAPES][2];

/** One kind of fragment: rows × columns of a matrix that is stored by rows or by columns. */
struct fragment_kind {
  int shape;
  enum fragment_use use;
  int by_columns;
};

/** The element that each lane holds at each position, as row · columns + column. */
struct fragment_map {
  int elements; /**< elements per lane */
  int16_t at[FRAGMENT_LANES][FRAGMENT_ELEMENTS_MAX];
};

/** \brief Loads into a fragment a matrix whose elements are their own indices. Records the elements
 * of each lane in \a map, which is in device memory. */
cudaError_t fragment_map_measure(const struct fragment_kind *kind, struct fragment_map *map,
                                 cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
