/* SPDX-License-Identifier: MIT */
/* Matrix units at a chosen number of operations per byte. Warps load fragments of the first factor
 * from memory, with as many loads per product, or products per load, as that number needs. The
 * second factor stays in registers. Source: PTX ISA, "mma.m16n8k16". */
#include "tools/memory/cuda/mem_cuda.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define THREADS 256
#define CHAINS  4 /* independent chains of products per warp */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define IN_OUT "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])

template <enum mem_type TYPE> static __device__ void product(float d[4], const uint32_t a[4], uint32_t b)
{
  if (TYPE == MEM_FP16)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %8}, "
        "{%0, %1, %2, %3};"
        : IN_OUT
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b));
  else if (TYPE == MEM_BF16)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
        "%8}, {%0, %1, %2, %3};"
        : IN_OUT
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
        "%8}, {%0, %1, %2, %3};"
        : IN_OUT
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b));
}
#else
template <enum mem_type TYPE> static __device__ void product(float[4], const uint32_t[4], uint32_t)
{
}
#endif

/* Returns the word of the second factor that this lane holds: the value of column lane / 4, stored
 * twice for types of 16 bits. */
template <enum mem_type TYPE> static __device__ uint32_t second_factor(void)
{
  float value = MEM_TENSOR_B(threadIdx.x % 32 / 4);
  if (TYPE == MEM_TF32) return __float_as_uint(value);
  uint32_t half = TYPE == MEM_FP16 ? __half_as_ushort(__float2half(value))
                                   : __bfloat16_as_ushort(__float2bfloat16(value));
  return half | half << 16;
}

static __device__ uint4 operator^(uint4 a, uint4 b)
{
  return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

/* A thread combines `loads` words of 16 bytes by exclusive or, and uses the result in `products`
 * products. n, the number of all words, is a multiple of loads times the number of threads. */
template <enum mem_type TYPE>
static __global__ void __launch_bounds__(THREADS)
    tensor(const uint4 *__restrict__ from, uint64_t n, int loads, int products, float *sum)
{
  uint64_t threads = (uint64_t)gridDim.x * THREADS, id = blockIdx.x * (uint64_t)THREADS + threadIdx.x;
  float d[CHAINS][4] = {};
  uint32_t b = second_factor<TYPE>();
  for (uint64_t i = id; i < n; i += threads * loads) {
    uint4 word = make_uint4(0, 0, 0, 0);
#pragma unroll 4
    for (int load = 0; load < loads; load++) word = word ^ __ldcs(from + i + load * threads);
    uint32_t a[4] = {mem_tensor_bits(TYPE, word.x), mem_tensor_bits(TYPE, word.y),
                     mem_tensor_bits(TYPE, word.z), mem_tensor_bits(TYPE, word.w)};
    int p = 0;
    for (; p + CHAINS <= products; p += CHAINS) {
#pragma unroll
      for (int c = 0; c < CHAINS; c++) product<TYPE>(d[c], a, b);
    }
    for (; p < products; p++) product<TYPE>(d[0], a, b);
  }
  float mine = 0;
  for (int c = 0; c < CHAINS; c++) mine += (d[c][0] + d[c][1]) + (d[c][2] + d[c][3]);
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

int mem_cuda_tensor_built(void)
{
  int code = 0;
  return cuda_code_of((const void *)tensor<MEM_FP16>, &code) == cudaSuccess && code >= 80;
}

status_t mem_cuda_tensor(struct mem_exec *exec, struct gpu_queue *queue, struct mem_flops *f)
{
  cudaStream_t stream = cuda_queue_handle(queue);
  int one = f->type == MEM_TF32 ? MEM_TENSOR_FLOP16 / 2 : MEM_TENSOR_FLOP16;
  int loads = f->flop16 < one ? one / f->flop16 : 1, products = f->flop16 < one ? 1 : f->flop16 / one;
  const uint4 *from = (const uint4 *)f->mem.handle;
  uint64_t n = f->bytes / sizeof(uint4), blocks = (uint64_t)mem_cuda_units(exec) * 8;
  float *sum = (float *)f->sum.handle;
  /* All warps run the same number of rounds: launch fewer blocks if there is less to read. */
  while (blocks > 1 && n % (blocks * THREADS * (uint64_t)loads)) blocks--;
  f->threads = blocks * THREADS;
  if (f->type == MEM_TF32)
    tensor<MEM_TF32><<<(unsigned)blocks, THREADS, 0, stream>>>(from, n, loads, products, sum);
  else if (f->type == MEM_FP16)
    tensor<MEM_FP16><<<(unsigned)blocks, THREADS, 0, stream>>>(from, n, loads, products, sum);
  else
    tensor<MEM_BF16><<<(unsigned)blocks, THREADS, 0, stream>>>(from, n, loads, products, sum);
  return mem_cuda_launched("multiplying matrices");
}
