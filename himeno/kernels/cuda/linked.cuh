// SPDX-License-Identifier: MIT
// The blocks of slabs in a sweep that exchanges its halos itself.
#ifndef HIMENO_KERNELS_CUDA_LINKED_CUH
#define HIMENO_KERNELS_CUDA_LINKED_CUH

#include "comm/halo/cuda/link.cuh"
#include "himeno/kernels/cuda/linked.h"

// Returns whether this block belongs to a slab. Sets `number` to its index among the blocks of
// slabs, or else among the blocks of the inner box.
static __device__ __forceinline__ bool linked_is_slab(const cuda_linked &job, unsigned *number)
{
  unsigned share = blockIdx.x / job.spread;
  bool slab = share < job.slab_blocks && blockIdx.x % job.spread == 0;
  *number = slab ? share : blockIdx.x - min(share + 1, job.slab_blocks);
  return slab;
}

// Returns the slab that a block with this number belongs to.
static __device__ __forceinline__ const cuda_linked_box &linked_box(const cuda_linked &job, unsigned number)
{
  int b = job.n - 1;
  while (b > 0 && number < job.box[b].first_block) b--;
  return job.box[b];
}

// Returns the tile of a block of the inner box.
static __device__ __forceinline__ uint3 linked_tile(const cuda_linked &job, unsigned number)
{
  unsigned yz = number / job.grid.x;
  return {number % job.grid.x, yz % job.grid.y, yz / job.grid.y};
}

// Waits until the halos of the previous exchange have arrived. Returns the time of that, in ns.
static __device__ __forceinline__ uint64_t linked_await(const cuda_linked &job, unsigned thread)
{
  uint64_t start = link_nanoseconds();
  if (thread < 32) link_await(job.link, job.link.state->base + job.step - 1, thread);
  __syncthreads();
  uint64_t here = link_nanoseconds();
  if (blockIdx.x == 0 && thread == 0) job.link.state->wait_ns += here - start;
  return here;
}

// Stores the points of [k, k + 4) that are in [lo, hi) into the halos of all neighbours.
static __device__ __forceinline__ void linked_store(const cuda_linked &job, int i, int j, int k,
                                                    const float value[4], int lo, int hi)
{
  for (int m = 0; m < job.link.n; m++) {
    const halo_link_message &to = job.link.message[m];
    if (i < to.lo[0] || i >= to.hi[0] || j < to.lo[1] || j >= to.hi[1]) continue;
    int first = max(lo, to.lo[2]), last = min(hi, to.hi[2]);
    float *out = to.to[job.which] + (i - to.lo[0]) * to.plane + (j - to.lo[1]) * to.pitch + (k - to.lo[2]);
    if (k >= first && k + 4 <= last && (uintptr_t)out % sizeof(float4) == 0) {
      link_store(out, make_float4(value[0], value[1], value[2], value[3]));
      continue;
    }
#pragma unroll
    for (int x = 0; x < 4; x++)
      if (k + x >= first && k + x < last) out[x] = value[x];
  }
}

// Makes the block's stores visible; the last of the slabs' blocks sets the flags.
static __device__ __forceinline__ void linked_sent(const cuda_linked &job, uint64_t here, unsigned thread)
{
  if (link_sent(job.link, job.link.state->base + job.step, job.slab_blocks, thread) && thread == 0)
    job.link.state->edge_ns += link_nanoseconds() - here;
}

#endif
