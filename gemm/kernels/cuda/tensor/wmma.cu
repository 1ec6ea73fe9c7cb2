// SPDX-License-Identifier: MIT
// wmma: tensor cores through CUDA's WMMA interface, in fragments of 16x16x16 half-precision
// elements. Loads and stores of fragments need rows at multiples of 16 bytes. So matrices are read
// through shared memory, and results are written through it.
#include <cuda_fp16.h>
#include <mma.h>

#include "gemm/kernels/cuda/tensor/tile_kernel.cuh"

// Acc is the type of both the sums and C: float, or half if everything is half precision.
template <class Acc, class Shape, bool ahead_> struct wmma_tile {
  static constexpr int rows = 16, columns = 16;
  typedef Shape S;
  template <bool across>
  using layout = typename std::conditional<across, nvcuda::wmma::col_major, nvcuda::wmma::row_major>::type;
  typedef nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, rows, columns, 16, __half, layout<S::trans_a>>
      a_fragment;
  typedef nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, rows, columns, 16, __half, layout<S::trans_b>>
      b_fragment;
  typedef nvcuda::wmma::fragment<nvcuda::wmma::accumulator, rows, columns, 16, Acc> c_fragment;
  static constexpr int down = S::warp_m / rows, across = S::warp_n / columns;
  static constexpr int step = 16;
  static constexpr bool ahead = ahead_;
  // A warp's staging buffer for results: a row of fragments.
  static constexpr int width = S::warp_n, pitch = width + 32 / sizeof(Acc);
  static constexpr int store_bytes = S::threads / 32 * rows * pitch * sizeof(Acc);

  c_fragment sum[down][across];
  a_fragment a[ahead ? 2 : 1][down];
  b_fragment b[ahead ? 2 : 1][across];

  __device__ __forceinline__ wmma_tile()
  {
#pragma unroll
    for (int i = 0; i < down * across; i++)
      nvcuda::wmma::fill_fragment(sum[i / across][i % across], (Acc)0.0f);
  }

  template <int set> __device__ __forceinline__ void load_a(int i, const uint16_t *tile, int k)
  {
    tile += S::trans_a ? k * S::a_pitch + i * rows : i * rows * S::a_pitch + k;
    nvcuda::wmma::load_matrix_sync(a[set][i], (const __half *)tile, S::a_pitch);
  }

  template <int set> __device__ __forceinline__ void load_b(int j, const uint16_t *tile, int k)
  {
    tile += S::trans_b ? j * columns * S::b_pitch + k : k * S::b_pitch + j * columns;
    nvcuda::wmma::load_matrix_sync(b[set][j], (const __half *)tile, S::b_pitch);
  }

  template <int set> __device__ __forceinline__ void multiply(int i)
  {
#pragma unroll
    for (int j = 0; j < across; j++) nvcuda::wmma::mma_sync(sum[i][j], a[set][i], b[set][j], sum[i][j]);
  }

  // Copies whole rows of C from this warp's staging buffer in shared memory.
  __device__ __forceinline__ static void write(const tile_args<uint16_t> &args, const Acc *staging, int m,
                                               int n)
  {
    constexpr int lanes = width / 2;
    static_assert(lanes <= 32, "a warp writes whole rows");
    const int lane = threadIdx.x % 32;
#pragma unroll 4
    for (int row = lane / lanes; row < rows && m + row < args.m; row += 32 / lanes) {
      Acc *c = (Acc *)args.c + (m + row) * args.ldc;
      const Acc *x = staging + row * pitch + lane % lanes * 2;
      int column = n + lane % lanes * 2;
      for (int e = 0; e < 2 && column + e < args.n; e++) {
        float value = args.alpha * (float)x[e];
        c[column + e] = (Acc)(args.beta == 0 ? value : __fmaf_rn(args.beta, (float)c[column + e], value));
      }
    }
  }

  __device__ __forceinline__ void store(const tile_args<uint16_t> &args, int m, int n, uint16_t *shared) const
  {
    constexpr int together = width / columns;
    Acc *staging = (Acc *)shared + threadIdx.x / 32 * rows * pitch;
#pragma unroll
    for (int i = 0; i < down; i++)
#pragma unroll
      for (int j = 0; j < across; j += together) {
#pragma unroll
        for (int t = 0; t < together; t++)
          nvcuda::wmma::store_matrix_sync(staging + t * columns, sum[i][j + t], pitch,
                                          nvcuda::wmma::mem_row_major);
        __syncwarp();
        write(args, staging, m + i * rows, n + j * columns);
        __syncwarp();
      }
  }
};

// The kernel is empty for chips before `least`.
template <class W, int blocks, int least>
static __global__ void __launch_bounds__(W::S::threads, blocks)
    wmma_kernel(const CUDA_GRID_CONSTANT tile_args<uint16_t> args)
{
#if __CUDA_ARCH__ >= 700
  extern __shared__ __align__(128) uint16_t shared[];
  if constexpr (__CUDA_ARCH__ >= 10 * least) tile_product<W>(args, shared);
#endif
}

// Tiles of the rungs. Shapes whose last argument is 1 are only for products with whole rows, see
// tile_is_whole. With float sums on Hopper, stages have 64 steps of k, because four such stages fit
// in shared memory. Half-precision sums need fewer registers, which allows larger tiles, except
// before Ampere, where shared memory is too small.
template <class Acc, bool trans_a, bool trans_b> struct wmma_tiles {
  typedef wmma_tile<Acc, tile_shape<16, 16, 32, 16, 16, trans_a, trans_b, 0>, false> warp;
  typedef wmma_tile<Acc, tile_shape<64, 64, 64, 32, 32, trans_a, trans_b, 0>, false> small;
  typedef wmma_tile<Acc, tile_shape<128, 128, 32, 64, 32, trans_a, trans_b, 0>, false> middle;
  typedef wmma_tile<Acc, tile_shape<128, 256, 32, 64, 64, trans_a, trans_b, 1>, true> wide;
  typedef wmma_tile<Acc, tile_shape<128, 256, 64, 64, 64, trans_a, trans_b, 1>, true> deep;
  typedef wmma_tile<Acc, tile_shape<256, 256, 32, 128, 64, trans_a, trans_b, 1>, true> large;
};

// Number of blocks per multiprocessor that wmma_tiles::small is compiled for.
#define SMALL_BLOCKS 3

struct wmma_size {
  int m, n, k;
};

// Returns the largest tile for this job, of those that fit the chip.
static wmma_size size_most(const cuda_job *job, gemm_type type, int chip)
{
  if (tile_is_whole(job, 8) && type != GEMM_F16_F16) return {128, 256, chip >= 90 && chip < 120 ? 64 : 32};
  if (tile_is_whole(job, 8) && chip >= 80) return {256, 256, 32};
  return {128, 128, 32};
}

// Chooses the largest tile that gives every multiprocessor a block, or else the smallest. If the
// caller asks for 256 columns, chooses size_most, because parts of a product may lack whole rows.
static cudaError_t wmma_choose(const cuda_job *job, gemm_type type, const cuda_chip *chip,
                               gemm_blocks *blocks)
{
  const wmma_size sizes[] = {size_most(job, type, chip->number), {128, 128, 32}, {64, 64, 64}};
  for (const wmma_size &size : sizes) {
    const tile_order order = tile_order_of(job->m, job->n, size.m, size.n, TILE_BAND);
    const bool asked = blocks->group_n == 256 || (blocks->group_m == size.m && blocks->group_n == size.n);
    if (blocks->group_m ? !asked : size.m > 64 && order.tiles < chip->processors) continue;
    blocks->group_m = size.m;
    blocks->group_n = size.n;
    blocks->group_k = size.k;
    blocks->splits = 1;
    return cudaSuccess;
  }
  return cudaErrorInvalidConfiguration;
}

template <class Acc, bool trans_a, bool trans_b>
static cudaError_t wmma_launch_as(const cuda_job *job, const gemm_blocks *blocks, cudaStream_t stream)
{
  typedef wmma_tiles<Acc, trans_a, trans_b> tiles;
  typedef typename tiles::small small;
  typedef typename tiles::middle middle;
  typedef typename tiles::wide wide;
  typedef typename tiles::deep deep;
  typedef typename tiles::large large;
  if (blocks->group_m == 64) return tile_launch<small, wmma_kernel<small, SMALL_BLOCKS, 0>>(job, stream);
  if (blocks->group_n == 128) return tile_launch<middle, wmma_kernel<middle, 2, 0>>(job, stream);
  if constexpr (sizeof(Acc) == 4)
    return blocks->group_k == 64 ? tile_launch<deep, wmma_kernel<deep, 1, 90>>(job, stream)
                                 : tile_launch<wide, wmma_kernel<wide, 1, 0>>(job, stream);
  else
    return tile_launch<large, wmma_kernel<large, 1, 80>>(job, stream);
}

template <class Acc, bool trans_a, bool trans_b>
static cudaError_t warp_launch_as(const cuda_job *job, const gemm_blocks *, cudaStream_t stream)
{
  typedef typename wmma_tiles<Acc, trans_a, trans_b>::warp warp;
  return tile_launch<warp, wmma_kernel<warp, 1, 0>>(job, stream);
}

typedef cudaError_t wmma_launcher(const cuda_job *, const gemm_blocks *, cudaStream_t);

#define BY_TRANS(launch, Acc)                                                                                \
  {                                                                                                          \
    {launch<Acc, 0, 0>, launch<Acc, 0, 1>},                                                                  \
    {                                                                                                        \
      launch<Acc, 1, 0>, launch<Acc, 1, 1>                                                                   \
    }                                                                                                        \
  }

static cudaError_t wmma_launch(const cuda_job *job, gemm_type type, const cuda_chip *,
                               const gemm_blocks *blocks, cudaStream_t stream)
{
  static constexpr wmma_launcher *const of[2][2][2] = {BY_TRANS(wmma_launch_as, float),
                                                       BY_TRANS(wmma_launch_as, __half)};
  return of[type == GEMM_F16_F16][job->trans_a != 0][job->trans_b != 0](job, blocks, stream);
}

static cudaError_t wmma_warp_launch(const cuda_job *job, gemm_type type, const cuda_chip *,
                                    const gemm_blocks *blocks, cudaStream_t stream)
{
  static constexpr wmma_launcher *const of[2][2][2] = {BY_TRANS(warp_launch_as, float),
                                                       BY_TRANS(warp_launch_as, __half)};
  return of[type == GEMM_F16_F16][job->trans_a != 0][job->trans_b != 0](job, blocks, stream);
}

static const void *wmma_kernel_of(void)
{
  return (const void *)wmma_kernel<wmma_tiles<float, 0, 0>::middle, 2, 0>;
}

static const void *wmma_warp_kernel_of(void)
{
  return (const void *)wmma_kernel<wmma_tiles<float, 0, 0>::warp, 1, 0>;
}

extern "C" const cuda_operation tensor_wmma = {wmma_launch,    nullptr, wmma_choose, nullptr,
                                               wmma_kernel_of, 70,      false,       true};
extern "C" const cuda_operation tensor_wmma_warp = {wmma_warp_launch,    nullptr, nullptr, nullptr,
                                                    wmma_warp_kernel_of, 70,      false,   true};
