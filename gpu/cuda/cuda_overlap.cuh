// SPDX-License-Identifier: MIT
// Programmatic dependent launch (Hopper and later), called within a kernel. After next_may_start,
// blocks of the next kernel may start as blocks of the calling kernel finish. Before
// wait_for_previous returns, a kernel may read only data that no earlier kernel writes, and must
// not write. On older chips a kernel starts when the previous one is complete.
#ifndef GPU_CUDA_CUDA_OVERLAP_CUH
#define GPU_CUDA_CUDA_OVERLAP_CUH

__device__ __forceinline__ void next_may_start()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ __forceinline__ void wait_for_previous()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#endif
