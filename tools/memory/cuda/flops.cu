/* SPDX-License-Identifier: MIT */
/* Multiply-adds in single precision, from 1/16 to 512 operations per byte. */
#include "tools/memory/cuda/mem_cuda.h"

#define THREADS 256
#define CHUNK   32 /* multiply-adds on each value between two tests of the loop's end */

template <int FLOP16> static __device__ void few(float x[4])
{
  if (FLOP16 == 1) x[0] = x[0] + MEM_FLOPS_B;
  if (FLOP16 >= 2) x[0] = fmaf(x[0], MEM_FLOPS_A, MEM_FLOPS_B);
  if (FLOP16 >= 4) x[1] = fmaf(x[1], MEM_FLOPS_A, MEM_FLOPS_B);
}

template <int ROUNDS> static __device__ void rounds(float x[4])
{
#pragma unroll
  for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
    for (int c = 0; c < 4; c++) x[c] = fmaf(x[c], MEM_FLOPS_A, MEM_FLOPS_B);
  }
}

/* FLOP16 is the number of operations per 16 bytes if it is less than 8·CHUNK. If it is 0, each
 * value gets `chunks` times CHUNK multiply-adds. */
template <int FLOP16>
static __global__ void __launch_bounds__(THREADS)
    flops(const uint4 *__restrict__ from, uint64_t n, int chunks, uint32_t *sum)
{
  uint64_t step = (uint64_t)gridDim.x * THREADS;
  uint32_t mine = 0;
  for (uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x; i < n; i += step) {
    uint4 word = __ldcs(from + i);
    float x[4] = {__uint_as_float(mem_flops_bits(word.x)), __uint_as_float(mem_flops_bits(word.y)),
                  __uint_as_float(mem_flops_bits(word.z)), __uint_as_float(mem_flops_bits(word.w))};
    if (FLOP16 > 0 && FLOP16 < 8) few<FLOP16>(x);
    if (FLOP16 >= 8) rounds<FLOP16 / 8>(x);
    for (int chunk = 0; FLOP16 == 0 && chunk < chunks; chunk++) rounds<CHUNK>(x);
#pragma unroll
    for (int c = 0; c < 4; c++) mine += __float_as_uint(x[c]);
  }
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

typedef void (*kernel)(const uint4 *, uint64_t, int, uint32_t *);

static kernel flops_kernel_of(int flop16)
{
  switch (flop16) {
  case 1:
    return flops<1>;
  case 2:
    return flops<2>;
  case 4:
    return flops<4>;
  case 8:
    return flops<8>;
  case 16:
    return flops<16>;
  case 32:
    return flops<32>;
  case 64:
    return flops<64>;
  case 128:
    return flops<128>;
  default:
    return flops<0>;
  }
}

status_t mem_cuda_flops(struct mem_exec *exec, struct gpu_queue *queue, struct mem_flops *f)
{
  if (f->type != MEM_FP32) return mem_cuda_tensor(exec, queue, f);
  flops_kernel_of(f->flop16)<<<mem_cuda_units(exec) * 8, THREADS, 0, cuda_queue_handle(queue)>>>(
      (const uint4 *)f->mem.handle, f->bytes / sizeof(uint4), f->flop16 / (8 * CHUNK),
      (uint32_t *)f->sum.handle);
  return mem_cuda_launched("multiplying and adding");
}
