// SPDX-License-Identifier: MIT
// The host side of the wmma and mma rungs.
#ifndef GEMM_KERNELS_CUDA_TENSOR_TILE_HOST_CUH
#define GEMM_KERNELS_CUDA_TENSOR_TILE_HOST_CUH

#include "gemm/kernels/cuda/tensor/tile_kernel.cuh"

// Rows of tiles per band, so that the tiles computed concurrently cover about a square of C.
#define TILE_BAND 12

static inline bool tile_is_aligned(const void *data, int64_t ld)
{
  return ld % 8 == 0 && (uintptr_t)data % 16 == 0;
}

// Whether the kernels for `whole` shapes can be used, see tile_reader.
static inline bool tile_is_whole(const cuda_job *job)
{
  return tile_is_aligned(job->a, job->lda) && tile_is_aligned(job->b, job->ldb) &&
         (job->trans_a ? job->m : job->k) % 8 == 0 && (job->trans_b ? job->k : job->n) % 8 == 0;
}

// Launches a kernel with the shared memory for its stages or for staging its results, whichever is
// larger.
template <class W, void (*kernel)(tile_args)>
static cudaError_t tile_launch(const cuda_job *job, cudaStream_t stream)
{
  typedef typename W::S S;
  tile_args args = {};
  args.a = tile_source{(const uint16_t *)job->a, job->lda, S::trans_a ? job->k : job->m,
                       S::trans_a ? job->m : job->k};
  args.b = tile_source{(const uint16_t *)job->b, job->ldb, S::trans_b ? job->n : job->k,
                       S::trans_b ? job->k : job->n};
  args.aligned = tile_is_aligned(job->a, job->lda) && tile_is_aligned(job->b, job->ldb);
  args.c = job->c;
  args.ldc = job->ldc;
  args.m = job->m;
  args.n = job->n;
  args.k = job->k;
  args.alpha = job->alpha;
  args.beta = job->beta;
  args.order = tile_order_of(job->m, job->n, S::m, S::n, TILE_BAND);
  int code = 0;
  cudaError_t error = cuda_code_of((const void *)kernel, &code);
  if (error != cudaSuccess) return error;
  const int stage = S::stage * sizeof(uint16_t);
  const int bytes = max(tile_stages(code, stage) * stage, W::store_bytes);
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  kernel<<<args.order.tiles, S::threads, bytes, stream>>>(args);
  return cudaGetLastError();
}

#endif
