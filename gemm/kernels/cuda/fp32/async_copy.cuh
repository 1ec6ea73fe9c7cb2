// SPDX-License-Identifier: MIT
// Addresses in shared memory, and asynchronous copies to shared memory: cp.async from sm_80 on
// (older chips use ordinary loads and stores), and from sm_90 on bulk copies of boxes of a matrix,
// which complete on a barrier. PTX ISA 8.0.
#ifndef GEMM_KERNELS_CUDA_FP32_ASYNC_COPY_CUH
#define GEMM_KERNELS_CUDA_FP32_ASYNC_COPY_CUH

#include <cuda.h>
#include <stdint.h>

static __device__ __forceinline__ uint32_t shared_address(const void *p)
{
  return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ float4 shared_load(uint32_t from)
{
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(from));
  return v;
}

static __device__ __forceinline__ float2 shared_load_pair(uint32_t from)
{
  float2 v;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(from));
  return v;
}

static __device__ __forceinline__ void shared_store(uint32_t to, float x, float y, float z, float w)
{
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(x), "f"(y), "f"(z), "f"(w)
               : "memory");
}

// copy_float copies 4 bytes and copy_quad 16 bytes. Both write zeros instead if `valid` is false.

static __device__ __forceinline__ void copy_float(uint32_t to, const float *from, bool valid)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(valid ? 4 : 0)
               : "memory");
#else
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(valid ? *from : 0.0f) : "memory");
#endif
}

static __device__ __forceinline__ void copy_quad(uint32_t to, const float *from, bool valid)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0)
               : "memory");
#else
  const float4 zero = {0, 0, 0, 0}, v = valid ? __ldg((const float4 *)from) : zero;
  shared_store(to, v.x, v.y, v.z, v.w);
#endif
}

// Makes one group of the copies requested since the last call.
static __device__ __forceinline__ void copies_commit()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until all but the last `pending` groups have arrived.
template <int pending> static __device__ __forceinline__ void copies_wait()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// Initializes a barrier that expects one arrival per phase.
static __device__ __forceinline__ void barrier_init(uint32_t barrier)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

static __device__ __forceinline__ void barrier_init_fence()
{
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Orders previous ordinary stores to shared memory before later bulk copies and tensor core reads.
static __device__ __forceinline__ void proxy_fence()
{
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Makes initialized barriers visible to TMA.
static __device__ __forceinline__ void barriers_publish()
{
  barrier_init_fence();
  proxy_fence();
}

// Arrives at the barrier, whose phase ends only after \a bytes bytes were copied.
static __device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

static __device__ __forceinline__ bool barrier_test(uint32_t barrier, uint32_t parity)
{
  uint32_t done;
  asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
               "selp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done;
}

static __device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity)
{
  asm volatile("{\n.reg .pred p;\nmore%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra more%=;\n}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

// Starts loading the box whose first element is (x, y) of the map. Elements beyond the matrix
// become zero.
static __device__ __forceinline__ void box_load(uint32_t to, const CUtensorMap &map, int x, int y,
                                                uint32_t barrier)
{
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(&map), "r"(x), "r"(y), "r"(barrier)
               : "memory");
}

// Waits for all threads of the cluster. Their earlier writes are visible afterwards.
static __device__ __forceinline__ void cluster_sync()
{
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Reads four floats at address `from` in the shared memory of block `rank` of the cluster.
static __device__ __forceinline__ float4 cluster_load(uint32_t from, int rank)
{
  uint32_t there;
  float4 v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(from), "r"(rank));
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(there));
  return v;
}

#endif

#endif
