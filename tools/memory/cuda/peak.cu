/* SPDX-License-Identifier: MIT */
/* The matrix units of compute capability 9.0 at full rate: warpgroups that multiply the same two
 * tiles of shared memory again and again. The instruction for single warps (tensor.cu) reaches
 * about two thirds of that rate. Source: PTX ISA, "wgmma.mma_async". */
#include "tools/memory/cuda/mem_cuda.h"

#define THREADS 256 /* two warpgroups, so that one computes while the other waits */
#define BATCH   8   /* products between two waits */
#define M       64
#define N       256
#define K_BYTES 32 /* bytes of k per product: 16 values of 16 bits, or 8 values of TF32 */

/* A tile is stored as core matrices of 8 rows × 16 bytes. The matrices with the first 16 bytes of k
 * of all rows come first, then those with the next 16 bytes. */
#define CORE_BYTES   128
#define A_WORDS      (M * K_BYTES / 4)
#define B_WORDS      (N * K_BYTES / 4)
#define ACCUMULATORS (M * N / 128)

/* Returns word w of the first factor. Words of the second factor depend only on the row in the core
 * matrix. */
static __host__ __device__ __forceinline__ uint32_t a_word(uint32_t w)
{
  return mem_word(7, w);
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
static __device__ uint32_t b_word(enum mem_type type, uint32_t w)
{
  int odd = w * 4 / 16 % 8 % 2;
  if (type == MEM_TF32) return odd ? 0xbf000000u : 0x3f400000u;
  if (type == MEM_FP16) return odd ? 0xb800b800u : 0x3a003a00u;
  return odd ? 0xbf00bf00u : 0x3f403f40u;
}

/* Returns the matrix descriptor of a tile: its address and, in units of 16 bytes, the distances
 * between core matrices along k and along m or n. There is no swizzle. */
static __device__ uint64_t descriptor(const uint32_t *tile, int rows)
{
  uint64_t address = (uint64_t)(__cvta_generic_to_shared(tile) >> 4 & 0x3fff);
  uint64_t along_k = rows / 8 * CORE_BYTES / 16, along_rows = CORE_BYTES / 16;
  return address | along_k << 16 | along_rows << 32;
}

#define REGISTERS                                                                                            \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                   \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                         \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                         \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "                         \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                         \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "                         \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "             \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define D4(i)  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
#define D64(i) D16(i), D16(i + 16), D16(i + 32), D16(i + 48)
#define WGMMA(shape, types, transposed)                                                                      \
  asm volatile("wgmma.mma_async.sync.aligned." shape ".f32." types " {" REGISTERS                            \
               "}, %128, %129, 1, 1, 1" transposed ";"                                                       \
               : D64(0), D64(64)                                                                             \
               : "l"(a), "l"(b))

template <enum mem_type TYPE> static __device__ void product(float d[ACCUMULATORS], uint64_t a, uint64_t b)
{
  if (TYPE == MEM_FP16) WGMMA("m64n256k16", "f16.f16", ", 0, 0");
  if (TYPE == MEM_BF16) WGMMA("m64n256k16", "bf16.bf16", ", 0, 0");
  if (TYPE == MEM_TF32) WGMMA("m64n256k8", "tf32.tf32", "");
}
#endif

template <enum mem_type TYPE>
static __global__ void __launch_bounds__(THREADS, 1) peak(int passes, float *sum)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __shared__ __align__(128) uint32_t a[A_WORDS], b[B_WORDS];
  float d[ACCUMULATORS] = {}, mine = 0;
  for (int w = threadIdx.x; w < A_WORDS; w += THREADS) a[w] = mem_tensor_bits(TYPE, a_word(w));
  for (int w = threadIdx.x; w < B_WORDS; w += THREADS) b[w] = b_word(TYPE, w);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  uint64_t da = descriptor(a, M), db = descriptor(b, N);
  for (int pass = 0; pass < passes; pass++) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int p = 0; p < BATCH; p++) product<TYPE>(d, da, db);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
#pragma unroll
  for (int i = 0; i < ACCUMULATORS; i++) mine += d[i];
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
#endif
}

/* Only machine code for sm_90a has the warpgroup instructions, and a build may lack that code. */
static __global__ void built(unsigned *flag)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  *flag = 1;
#else
  *flag = 0;
#endif
}

status_t mem_cuda_peak_built(unsigned *flag)
{
  built<<<1, 1>>>(flag);
  return mem_cuda_launched("launching a first kernel");
}

status_t mem_cuda_peak(struct mem_exec *exec, struct gpu_queue *queue, enum mem_type type, int passes,
                       struct gpu_mem total, double *flop, double *expect)
{
  double products = (double)passes * BATCH * mem_cuda_units(exec) * (THREADS / 128), a_sum = 0,
         b_sum = N / 8 * (4 * 0.75 - 4 * 0.5);
  cudaStream_t stream = cuda_queue_handle(queue);
  float *sum = (float *)total.handle;
  for (uint32_t w = 0; w < A_WORDS; w++) a_sum += mem_tensor_sum(type, a_word(w));
  *flop = products * 2 * M * N * K_BYTES / (type == MEM_TF32 ? 4 : 2);
  *expect = products * a_sum * b_sum;
  if (type == MEM_TF32)
    peak<MEM_TF32><<<mem_cuda_units(exec), THREADS, 0, stream>>>(passes, sum);
  else if (type == MEM_FP16)
    peak<MEM_FP16><<<mem_cuda_units(exec), THREADS, 0, stream>>>(passes, sum);
  else
    peak<MEM_BF16><<<mem_cuda_units(exec), THREADS, 0, stream>>>(passes, sum);
  return mem_cuda_launched("multiplying matrices by warpgroups");
}
