// SPDX-License-Identifier: MIT
// Programmatic launches (Hopper and later), from within a kernel: next_may_start lets the blocks of
// the kernel that is launched after this one take the places that this one's leave; before
// wait_for_previous returns, only what no kernel before writes may be read, and nothing written. On
// older chips a kernel starts when the one before is complete.
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
