/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What CUDA's WMMA leaves open, measured on the device: which lane holds which element of a
 * fragment, and how fast fragments are loaded. Plain C interface of fragment.cu. */
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

/** One kind of fragment: rows × columns of a matrix, stored by rows or by columns. */
struct fragment_kind {
  int shape;
  enum fragment_use use;
  int by_columns;
};

/** Where the elements of a fragment stand: numbers row · columns + column. */
struct fragment_map {
  int elements; /**< of a lane */
  int16_t at[FRAGMENT_LANES][FRAGMENT_ELEMENTS_MAX];
};

/** \brief Loads a matrix that holds its own numbers into a fragment and sees what each lane has
 * got. \a map is device memory. */
cudaError_t fragment_map_measure(const struct fragment_kind *kind, struct fragment_map *map,
                                 cudaStream_t stream);

/** Ways to load a 16×16 matrix_a fragment by rows. By elements: a load for each, at the places that
 * the map names. By pairs: two neighbours at once, for maps where they are neighbours. */
enum fragment_load { FRAGMENT_LOAD_WMMA, FRAGMENT_LOAD_ELEMENTS, FRAGMENT_LOAD_PAIRS, FRAGMENT_LOADS };

struct fragment_load_job {
  enum fragment_load how;
  int shared; /**< from shared memory, else from device memory */
  int blocks, turns;
  const uint16_t *matrices; /**< FRAGMENT_WINDOW halves, device memory */
  const struct fragment_map *map;
  uint32_t *sums; /**< FRAGMENT_THREADS · blocks: what each lane has read, added up */
};

#define FRAGMENT_THREADS 256
#define FRAGMENT_WINDOW  (16 * 1024)

/** \brief Every warp loads `turns` fragments, each from another place of the window; each lane adds
 * up the bits that it gets, so no load can be left out. */
cudaError_t fragment_load_run(const struct fragment_load_job *job, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
