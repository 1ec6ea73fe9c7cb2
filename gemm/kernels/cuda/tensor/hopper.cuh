// SPDX-License-Identifier: MIT
// PTX for Hopper's tensor cores: bulk tensor copies that complete on barriers in shared memory,
// clusters, warpgroup products and their descriptors. PTX ISA 8.0 and later, sm_90a.
#ifndef GEMM_KERNELS_CUDA_TENSOR_HOPPER_CUH
#define GEMM_KERNELS_CUDA_TENSOR_HOPPER_CUH

#include <cuda.h>
#include <stdint.h>

#include "gemm/kernels/cuda/fp32/async_copy.cuh"

static __device__ __forceinline__ uint32_t cluster_rank()
{
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

static __device__ __forceinline__ void barrier_init(uint32_t barrier, int count)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

// Arrives at the barrier that has the same address in block `rank` of the cluster.
static __device__ __forceinline__ void barrier_arrive_at(uint32_t barrier, uint32_t rank)
{
  asm volatile("{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
               "r"(rank)
               : "memory");
}

// Barrier for the threads of one warpgroup. Number 0 is the barrier of __syncthreads().
static __device__ __forceinline__ void group_sync(int number)
{
  asm volatile("bar.sync %0, 128;" ::"r"(number) : "memory");
}

// Loads a box like box_load, but to the same address in every block of the mask. Each block's own
// barrier counts the bytes that arrive in that block.
static __device__ __forceinline__ void box_load_all(uint32_t to, const CUtensorMap &map, int x, int y,
                                                    uint32_t barrier, uint16_t mask)
{
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
      : "memory");
}

// Stores the elements of a box that are inside the array. The L2 cache evicts lines of C first,
// because C is not read again, while A and B are read again.
static __device__ __forceinline__ void box_store(const CUtensorMap &map, int x, int y, uint32_t from)
{
  asm volatile("{\n.reg .b64 policy;\ncreatepolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
               "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], "
               "policy;\n}" ::"l"(&map),
               "r"(x), "r"(y), "r"(from)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all but the last \a pending stores have read their shared memory.
template <int pending> static __device__ __forceinline__ void box_store_read()
{
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

static __device__ __forceinline__ void box_store_wait()
{
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

static __device__ __forceinline__ void map_prefetch(const CUtensorMap &map)
{
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

template <int registers> static __device__ __forceinline__ void registers_more()
{
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

template <int registers> static __device__ __forceinline__ void registers_less()
{
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

static __device__ __forceinline__ void wgmma_fence()
{
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void wgmma_commit()
{
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int pending> static __device__ __forceinline__ void wgmma_wait()
{
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// Keeps the compiler from using the sums of a product before the wait for it.
template <int n> static __device__ __forceinline__ void registers_fence(float (&d)[n])
{
#pragma unroll
  for (int i = 0; i < n; i++) asm volatile("" : "+f"(d[i])::"memory");
}

// Returns the matrix descriptor (PTX ISA, "matrix descriptor format") of an operand in shared
// memory with swizzled rows. If rows run along k, `stride` is the distance in bytes from eight rows
// to the next eight. Otherwise boxes have eight rows along k; `stride` is the distance to the next
// box along k, and `leading` the distance to the next box along m or n.
#define SWIZZLE_128 1
static __device__ __forceinline__ uint64_t operand(uint32_t address, uint32_t leading, uint32_t stride)
{
  return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(leading >> 4) << 16 |
         (uint64_t)(stride >> 4) << 32 | (uint64_t)SWIZZLE_128 << 62;
}

#endif
