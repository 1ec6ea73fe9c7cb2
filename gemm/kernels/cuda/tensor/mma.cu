// SPDX-License-Identifier: MIT
// mma: the warp instruction m16n8k16 instead of the WMMA interface, with ldmatrix for loads, and
// results stored from registers. Half and bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "gemm/kernels/cuda/tensor/tile_kernel.cuh"

// Loads four 8×8 matrices; lane l gives the address of row l%8 of matrix l/8. Each lane receives a
// pair of elements per matrix, of row l/4, or of column l/4 if the matrices are transposed.
template <bool turned>
static __device__ __forceinline__ void matrices_load(uint32_t (&r)[4], const uint16_t *from)
{
#if __CUDA_ARCH__ >= 750
  uint32_t address = (uint32_t)__cvta_generic_to_shared(from);
  if (turned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
#endif
}

#define MMA(types)                                                                                           \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." types ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "    \
               "{%8, %9}, {%0, %1, %2, %3};"                                                                 \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                              \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

[[maybe_unused]] static __device__ __forceinline__ void
warp_multiply(__half, float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
  MMA("f16.f16");
#endif
}

[[maybe_unused]] static __device__ __forceinline__ void
warp_multiply(__nv_bfloat16, float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
  MMA("bf16.bf16");
#endif
}

template <class T, class Shape> struct mma_tile {
  typedef Shape S;
  static constexpr int rows = S::warp_m / 16, columns = S::warp_n / 8;
  static constexpr int down = rows, across = columns / 2;
  static constexpr int step = 16;
  static constexpr bool ahead = true;
  static constexpr int store_bytes = 0; // results are stored from registers
  float d[rows][columns][4];
  uint32_t a[2][rows][4], b[2][columns / 2][4];

  __device__ __forceinline__ mma_tile()
  {
#pragma unroll
    for (int i = 0; i < rows * columns * 4; i++) d[i / 4 / columns][i / 4 % columns][i % 4] = 0;
  }

  template <int set> __device__ __forceinline__ void load_a(int i, const uint16_t *tile, int k)
  {
    const int lane = threadIdx.x % 32, low = lane % 8, m = 16 * i + lane / 8 % 2 * 8;
    k += lane / 16 * 8;
    matrices_load<S::trans_a>(a[set][i], S::trans_a ? tile + (k + low) * S::a_pitch + m
                                                    : tile + (m + low) * S::a_pitch + k);
  }

  template <int set> __device__ __forceinline__ void load_b(int j, const uint16_t *tile, int k)
  {
    const int lane = threadIdx.x % 32, low = lane % 8, n = 16 * j + lane / 16 * 8;
    k += lane / 8 % 2 * 8;
    matrices_load<!S::trans_b>(b[set][j], S::trans_b ? tile + (n + low) * S::b_pitch + k
                                                     : tile + (k + low) * S::b_pitch + n);
  }

  template <int set> __device__ __forceinline__ void multiply(int i)
  {
#pragma unroll
    for (int j = 0; j < columns; j++)
      warp_multiply(T(), d[i][j], a[set][i], b[set][j / 2][j % 2 * 2], b[set][j / 2][j % 2 * 2 + 1]);
  }

  __device__ __forceinline__ void store(const tile_args<uint16_t> &args, int m, int n, uint16_t *) const
  {
    const int lane = threadIdx.x % 32;
    const bool pairs = args.ldc % 2 == 0 && (uintptr_t)args.c % 8 == 0 && args.beta == 0;
#pragma unroll
    for (int i = 0; i < 2 * rows; i++) {
      int row = m + 8 * i + lane / 4;
      if (row >= args.m) break;
      float *c = (float *)args.c + row * args.ldc;
#pragma unroll
      for (int j = 0; j < columns; j++) {
        int column = n + 8 * j + lane % 4 * 2;
        const float *x = d[i / 2][j] + i % 2 * 2;
        if (pairs && column + 1 < args.n) {
          *(float2 *)(c + column) = make_float2(args.alpha * x[0], args.alpha * x[1]);
        } else {
          for (int e = 0; e < 2 && column + e < args.n; e++)
            c[column + e] =
                args.beta == 0 ? args.alpha * x[e] : __fmaf_rn(args.beta, c[column + e], args.alpha * x[e]);
        }
      }
    }
  }
};

template <class W>
static __global__ void __launch_bounds__(W::S::threads)
    mma_kernel(const CUDA_GRID_CONSTANT tile_args<uint16_t> args)
{
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) uint16_t shared[];
  tile_product<W>(args, shared);
#endif
}

template <class T, bool trans_a, bool trans_b>
static cudaError_t mma_launch_as(const cuda_job *job, cudaStream_t stream)
{
  typedef mma_tile<T, tile_shape<128, 256, 32, 64, 64, trans_a, trans_b, 0>> tile;
  return tile_launch<tile, mma_kernel<tile>>(job, stream);
}

typedef cudaError_t mma_launcher(const cuda_job *, cudaStream_t);

template <class T> static cudaError_t launch_of(const cuda_job *job, cudaStream_t stream)
{
  static constexpr mma_launcher *const by_trans[2][2] = {{mma_launch_as<T, 0, 0>, mma_launch_as<T, 0, 1>},
                                                         {mma_launch_as<T, 1, 0>, mma_launch_as<T, 1, 1>}};
  return by_trans[job->trans_a != 0][job->trans_b != 0](job, stream);
}

static cudaError_t mma_launch(const cuda_job *job, gemm_type type, const cuda_chip *, const gemm_blocks *,
                              cudaStream_t stream)
{
  return type == GEMM_BF16 ? launch_of<__nv_bfloat16>(job, stream) : launch_of<__half>(job, stream);
}

static const void *mma_kernel_of(void)
{
  return (const void *)mma_kernel<mma_tile<__half, tile_shape<128, 256, 32, 64, 64, 0, 0, 0>>>;
}

extern "C" const cuda_operation tensor_mma = {mma_launch,    nullptr, nullptr, nullptr,
                                              mma_kernel_of, 80,      false,   true};
