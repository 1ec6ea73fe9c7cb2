// SPDX-License-Identifier: MIT
// sgemm-tc: float32 products from bfloat16 tensor cores on Hopper. Both operands are split into
// three parts first, rows along k; what the split cannot carry is done again in float32 afterwards.
#include "gemm/kernels/cuda/cuda_gemm.h"

#ifdef HAVE_SM90A

#include "gemm/kernels/cuda/tensor/recast.cuh"
#include "gemm/kernels/cuda/tensor/sgemm_tc_kernel.cuh"
#include "gemm/kernels/cuda/tensor/tensor_map.cuh"
#include "gpu/cuda/cuda_device.h"

#define BAND 4

// What stands in the work memory.
struct parts {
  __nv_bfloat16 *a, *b; // three planes each
  int64_t ld, a_plane, b_plane;
  uint32_t *odd; // and behind it the flag that any is
  int odd_words;
  size_t odd_bytes;
};

static size_t parts_place(const cuda_job *job, parts *p)
{
  p->ld = padded(job->k, sizeof(__nv_bfloat16));
  p->a_plane = p->ld * job->m;
  p->b_plane = p->ld * job->n;
  p->odd_words = (job->n + 31) / 32;
  p->odd_bytes = ((size_t)p->odd_words * job->m + 1) * sizeof(uint32_t);
  p->a = (__nv_bfloat16 *)job->work;
  p->b = p->a + 3 * p->a_plane;
  p->odd = (uint32_t *)(p->b + 3 * p->b_plane);
  return 3 * (p->a_plane + p->b_plane) * sizeof(__nv_bfloat16) + p->odd_bytes;
}

static size_t work(const cuda_job *job, gemm_type, const cuda_chip *, const gemm_blocks *)
{
  parts p;
  return parts_place(job, &p);
}

// The marked elements, a warp each, in float32. Runs after every product, and mostly has nothing to
// do.
static __global__ void odd_kernel(const CUDA_GRID_CONSTANT cuda_job job, const uint32_t *odd, int words)
{
  const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  const int64_t all = (int64_t)words * job.m;
  if (odd[all] == 0) return;
  const int64_t a_row = job.trans_a ? 1 : job.lda, a_k = job.trans_a ? job.lda : 1;
  const int64_t b_column = job.trans_b ? job.ldb : 1, b_k = job.trans_b ? 1 : job.ldb;
  for (int64_t at = (blockIdx.x * blockDim.x + threadIdx.x) / 32; at < all; at += warps)
    for (uint32_t left = odd[at]; left; left &= left - 1) {
      const int64_t row = at / words, column = at % words * 32 + __ffs(left) - 1;
      const float *a = (const float *)job.a + row * a_row, *b = (const float *)job.b + column * b_column;
      float sum = 0, *c = (float *)job.c + row * job.ldc + column;
      for (int k = lane; k < job.k; k += 32) sum = __fmaf_rn(a[k * a_k], b[k * b_k], sum);
      for (int other = 16; other; other /= 2) sum += __shfl_xor_sync(~0u, sum, other);
      if (lane == 0) *c = job.beta == 0 ? job.alpha * sum : __fmaf_rn(job.beta, *c, job.alpha * sum);
    }
}

template <class S>
static cudaError_t product(const cuda_job *job, const cuda_chip *chip, const parts &p, cudaStream_t stream)
{
  typedef tensor_map_shape<__nv_bfloat16> map_shape;
  CUtensorMap a_map, b_map;
  sgemm_tc_args args = {job->m,      job->n,
                        job->k,      job->alpha,
                        job->beta,   (float *)job->c,
                        job->ldc,    p.odd,
                        p.odd_words, p.odd + (int64_t)p.odd_words * job->m,
                        {}};
  args.order = tile_order_of(job->m, job->n, 2 * S::rows, S::columns, BAND);
  if (!tensor_map_make(map_shape{p.a, job->k, job->m, 3, p.ld, p.a_plane, S::depth, S::rows, 3}, &a_map) ||
      !tensor_map_make(map_shape{p.b, job->k, job->n, 3, p.ld, p.b_plane, S::depth, S::columns / 2, 1},
                       &b_map))
    return cudaErrorInvalidValue;
  cudaError_t error =
      cudaFuncSetAttribute(sgemm_tc_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::smem_bytes);
  if (error != cudaSuccess) return error;
  sgemm_tc_kernel<S><<<2 * min(args.order.tiles, chip->processors / 2), S::threads, S::smem_bytes, stream>>>(
      a_map, b_map, args);
  return cudaGetLastError();
}

// Time in units of a column of a tile: whole rounds over the chip's pairs of blocks.
template <class S> static double cost(const cuda_job *job, const cuda_chip *chip)
{
  tile_order order = tile_order_of(job->m, job->n, 2 * S::rows, S::columns, BAND);
  int pairs = chip->processors / 2;
  return (double)((order.tiles + pairs - 1) / pairs) * S::columns * S::effort;
}

static cudaError_t launch(const cuda_job *job, gemm_type, const cuda_chip *chip, const gemm_blocks *,
                          cudaStream_t stream)
{
  parts p;
  parts_place(job, &p);
  cudaError_t error = recast((const float *)job->a, job->lda, job->trans_a, job->m, job->k,
                             recast_bf16x3{p.a, p.ld, p.a_plane}, stream);
  if (error == cudaSuccess)
    error = recast((const float *)job->b, job->ldb, !job->trans_b, job->n, job->k,
                   recast_bf16x3{p.b, p.ld, p.b_plane}, stream);
  if (error == cudaSuccess) error = cudaMemsetAsync(p.odd, 0, p.odd_bytes, stream);
  if (error == cudaSuccess)
    error = cost<sgemm_tc_wide>(job, chip) <= cost<sgemm_tc_narrow>(job, chip)
                ? product<sgemm_tc_wide>(job, chip, p, stream)
                : product<sgemm_tc_narrow>(job, chip, p, stream);
  if (error != cudaSuccess) return error;
  odd_kernel<<<chip->processors, 256, 0, stream>>>(*job, p.odd, p.odd_words);
  return cudaGetLastError();
}

extern "C" const cuda_operation tensor_sgemm_tc = {launch, work, nullptr, nullptr, nullptr, 90, true, true};

#else

extern "C" const cuda_operation tensor_sgemm_tc = {nullptr, nullptr, nullptr, nullptr,
                                                   nullptr, 90,      true,    false};

#endif
