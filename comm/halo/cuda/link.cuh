// SPDX-License-Identifier: MIT
// Device functions of a link: wait for flags, store to neighbours, set flags.
#ifndef COMM_HALO_CUDA_LINK_CUH
#define COMM_HALO_CUDA_LINK_CUH

#include <cuda_runtime.h>

#include "gpu/cuda/cuda_overlap.cuh"

extern "C" {
#include "comm/halo/link.h"
}

// A wait that lasts longer than this is reported to the host, which can then name the neighbour.
static const uint64_t LINK_TELL_NS = 20000000;

__device__ __forceinline__ uint64_t link_nanoseconds()
{
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__device__ __forceinline__ uint64_t link_acquire(const uint64_t *flag)
{
  uint64_t value;
#if __CUDA_ARCH__ >= 700
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
#else
  value = *(const volatile uint64_t *)flag;
  __threadfence_system();
#endif
  return value;
}

__device__ __forceinline__ void link_set(uint64_t *flag, uint64_t value)
{
#if __CUDA_ARCH__ >= 700
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
#else
  *(volatile uint64_t *)flag = value;
#endif
}

// Makes this thread's earlier stores, and stores of its block before a barrier, visible to all
// devices before this thread's later stores. This is cheaper than __threadfence_system, which is
// also sequentially consistent.
__device__ __forceinline__ void link_fence()
{
#if __CUDA_ARCH__ >= 700
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
  __threadfence_system();
#endif
}

// Stores 16 bytes by one instruction. The compiler would split an ordinary store into four if other
// branches store single floats.
__device__ __forceinline__ void link_store(float *to, float4 v)
{
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
               : "memory");
}

// Returns whether a wait has passed its deadline. After that, this rank neither sends nor waits.
__device__ __forceinline__ bool link_broken(const halo_link &link)
{
  return *(volatile int *)&link.state->broken;
}

__device__ __forceinline__ void link_add(uint64_t *flag, uint64_t value)
{
#if __CUDA_ARCH__ >= 700
  asm volatile("red.relaxed.sys.global.add.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
#else
  atomicAdd_system((unsigned long long *)flag, (unsigned long long)value);
#endif
}

// Reports a long wait to the host. Not inlined into link_await, because it is rarely called.
static __device__ __noinline__ void link_tell(const halo_link &link, uint64_t exchange, unsigned missing,
                                              bool hung)
{
  link.plea->step = exchange - link.state->base;
  link.plea->missing = missing;
  __threadfence_system();
  if (!hung) return;
  link.plea->hung = 1;
  link.state->broken = 1;
  __threadfence_system();
}

// Returns when all flags of this rank have reached `exchange`, or when the deadline has passed.
// Call with a whole warp: lane m polls the flag of message m.
__device__ __forceinline__ void link_await(const halo_link &link, uint64_t exchange, unsigned lane)
{
  bool told = false;
  uint64_t begin = 0;
  for (;;) {
    bool here =
        lane >= (unsigned)link.n || link_acquire(link.message[lane].here) >= exchange * HALO_FLAG_UNIT;
    unsigned missing = __ballot_sync(0xffffffffu, !here);
    if (missing == 0) break;
    if (begin == 0 && link_broken(link)) return;
    uint64_t now = link_nanoseconds();
    if (begin == 0) begin = now;
    bool late = now - begin > link.timeout_ns;
    late = __any_sync(0xffffffffu, late);
    if (lane == 0 && (late || (!told && now - begin > LINK_TELL_NS)))
      link_tell(link, exchange, missing, late);
    told |= now - begin > LINK_TELL_NS;
    if (late) return;
  }
  if (told && lane == 0) link.plea->missing = 0;
}

// Makes the stores of this block's threads visible to one neighbour, then adds this block's part to
// the flag there. The parts of the message's \a blocks blocks add up to HALO_FLAG_UNIT. Call with
// all threads of a block, and only if link.adds is 1.
__device__ __forceinline__ void link_part_sent(uint64_t *flag, unsigned block, unsigned blocks,
                                               unsigned thread, bool broken)
{
  if (__syncthreads_or(broken) || thread > 0) return;
  link_fence();
  link_add(flag, block == 0 ? HALO_FLAG_UNIT - (blocks - 1) : 1);
}

// Makes the stores of this block's threads visible. The last of \a blocks blocks to do so sets the
// neighbours' flags and returns true; the others return false. Call with all threads of a block.
__device__ __forceinline__ bool link_sent(const halo_link &link, uint64_t exchange, unsigned blocks,
                                          unsigned thread)
{
  bool last = false;
  __syncthreads();
  if (thread == 0) {
    link_fence();
    last = atomicAdd(&link.state->blocks, 1u) + 1 >= blocks;
  }
  if (last) {
    link.state->blocks = 0;
    // this fence makes the other blocks' stores visible before the flags
    link_fence();
    if (!link_broken(link))
      for (int m = 0; m < link.n; m++) link_set(link.message[m].flag, exchange * HALO_FLAG_UNIT);
  }
  return __syncthreads_or(last);
}

#endif
