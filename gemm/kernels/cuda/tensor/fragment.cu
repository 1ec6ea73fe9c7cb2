// SPDX-License-Identifier: MIT
// WMMA's fragments, looked at from the outside.
#include <cuda_fp16.h>
#include <mma.h>

#include "gemm/kernels/cuda/tensor/fragment.h"

using namespace nvcuda;

extern "C" const int fragment_shapes[FRAGMENT_SHAPES][2] = {{16, 16}, {32, 8}, {8, 32}};

// --- which lane holds which element ---

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

// --- loads ---

#define MATRIX  256 // elements of one, rows of 16
#define PLACES  (FRAGMENT_WINDOW / MATRIX)
#define STRIDES 5 // odd: a warp comes to every place

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> load_fragment;

static __device__ __forceinline__ uint32_t bits_sum(const load_fragment &fragment, int elements)
{
  uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < FRAGMENT_ELEMENTS_MAX; i += 2)
    if (i < fragment.num_elements && i < elements)
      sum += __half_as_ushort(fragment.x[i]) | (uint32_t)__half_as_ushort(fragment.x[i + 1]) << 16;
  return sum;
}

// The hand-written loads' offsets stand in registers before the turns begin.
template <int how> struct loader;

template <> struct loader<FRAGMENT_LOAD_WMMA> {
  __device__ __forceinline__ explicit loader(const struct fragment_map *)
  {
  }
  __device__ __forceinline__ void load(load_fragment &fragment, const __half *from) const
  {
    wmma::load_matrix_sync(fragment, from, 16);
  }
};

template <> struct loader<FRAGMENT_LOAD_ELEMENTS> {
  int at[FRAGMENT_ELEMENTS_MAX];
  __device__ __forceinline__ explicit loader(const struct fragment_map *map)
  {
#pragma unroll
    for (int i = 0; i < FRAGMENT_ELEMENTS_MAX; i++) at[i] = map->at[threadIdx.x % 32][i];
  }
  __device__ __forceinline__ void load(load_fragment &fragment, const __half *from) const
  {
#pragma unroll
    for (int i = 0; i < FRAGMENT_ELEMENTS_MAX; i++)
      if (i < fragment.num_elements) fragment.x[i] = from[at[i]];
  }
};

template <> struct loader<FRAGMENT_LOAD_PAIRS> {
  int at[FRAGMENT_ELEMENTS_MAX / 2];
  __device__ __forceinline__ explicit loader(const struct fragment_map *map)
  {
#pragma unroll
    for (int i = 0; i < FRAGMENT_ELEMENTS_MAX / 2; i++) at[i] = map->at[threadIdx.x % 32][2 * i];
  }
  __device__ __forceinline__ void load(load_fragment &fragment, const __half *from) const
  {
#pragma unroll
    for (int i = 0; i < FRAGMENT_ELEMENTS_MAX / 2; i++) {
      if (2 * i >= fragment.num_elements) break;
      __half2 pair = *(const __half2 *)(from + at[i]);
      fragment.x[2 * i] = __low2half(pair);
      fragment.x[2 * i + 1] = __high2half(pair);
    }
  }
};

template <int how>
static __device__ __forceinline__ uint32_t turns_run(const __half *from, const struct fragment_map *map,
                                                     int turns)
{
  const loader<how> loads(map);
  int place = (blockIdx.x * (FRAGMENT_THREADS / 32) + threadIdx.x / 32) % PLACES;
  uint32_t sum = 0;
#pragma unroll 4
  for (int turn = 0; turn < turns; turn++) {
    load_fragment fragment;
    loads.load(fragment, from + place * MATRIX);
    sum += bits_sum(fragment, FRAGMENT_ELEMENTS_MAX);
    place = (place + STRIDES) % PLACES;
  }
  return sum;
}

#define LOAD_KERNELS(name, how)                                                                              \
  extern "C" __global__ void __launch_bounds__(FRAGMENT_THREADS) name##_global(fragment_load_job job)        \
  {                                                                                                          \
    job.sums[blockIdx.x * FRAGMENT_THREADS + threadIdx.x] =                                                  \
        turns_run<how>((const __half *)job.matrices, job.map, job.turns);                                    \
  }                                                                                                          \
  extern "C" __global__ void __launch_bounds__(FRAGMENT_THREADS) name##_shared(fragment_load_job job)        \
  {                                                                                                          \
    __shared__ __align__(32) __half window[FRAGMENT_WINDOW];                                                 \
    for (int i = threadIdx.x; i < FRAGMENT_WINDOW; i += FRAGMENT_THREADS)                                    \
      window[i] = __ushort_as_half(job.matrices[i]);                                                         \
    __syncthreads();                                                                                         \
    job.sums[blockIdx.x * FRAGMENT_THREADS + threadIdx.x] = turns_run<how>(window, job.map, job.turns);      \
  }

LOAD_KERNELS(fragment_load_wmma, FRAGMENT_LOAD_WMMA)
LOAD_KERNELS(fragment_load_elements, FRAGMENT_LOAD_ELEMENTS)
LOAD_KERNELS(fragment_load_pairs, FRAGMENT_LOAD_PAIRS)

extern "C" cudaError_t fragment_load_run(const struct fragment_load_job *job, cudaStream_t stream)
{
  void (*const kernels[FRAGMENT_LOADS][2])(fragment_load_job) = {
      {fragment_load_wmma_global, fragment_load_wmma_shared},
      {fragment_load_elements_global, fragment_load_elements_shared},
      {fragment_load_pairs_global, fragment_load_pairs_shared}};
  kernels[job->how][job->shared != 0]<<<job->blocks, FRAGMENT_THREADS, 0, stream>>>(*job);
  return cudaGetLastError();
}
