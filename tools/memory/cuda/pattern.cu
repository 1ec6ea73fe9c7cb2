/* SPDX-License-Identifier: MIT */
/* Fills memory with known words, and compares it with them. */
#include "tools/memory/cuda/mem_cuda.h"

#define THREADS 256

static __global__ void fill(uint4 *mem, uint64_t n, uint32_t number)
{
  uint64_t step = (uint64_t)gridDim.x * THREADS;
  for (uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x; i < n; i += step)
    mem[i] = make_uint4(mem_word(number, 4 * i), mem_word(number, 4 * i + 1), mem_word(number, 4 * i + 2),
                        mem_word(number, 4 * i + 3));
}

static __device__ uint32_t expected(enum mem_expect expect, int arrays, uint64_t w)
{
  return expect == MEM_EXPECT_WRITTEN ? mem_word_written(w) : mem_word_xor(arrays, w);
}

static __global__ void check(const uint32_t *mem, uint64_t n, enum mem_expect expect, int arrays,
                             struct mem_cuda_found *found)
{
  uint64_t step = (uint64_t)gridDim.x * THREADS;
  unsigned long long wrong = 0, first = ~0ull;
  uint32_t sum = 0;
  for (uint64_t w = blockIdx.x * (uint64_t)THREADS + threadIdx.x; w < n; w += step) {
    uint32_t want = expected(expect, arrays, w);
    sum += want;
    if (!mem || mem[w] == want) continue;
    if (!wrong) first = w;
    wrong++;
  }
  atomicAdd(&found->sum, sum);
  if (!wrong) return;
  atomicAdd(&found->wrong, wrong);
  atomicMin(&found->first, first);
}

status_t mem_cuda_fill(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                       int number)
{
  fill<<<mem_cuda_units(exec) * 8, THREADS, 0, cuda_queue_handle(queue)>>>(
      (uint4 *)mem.handle, bytes / sizeof(uint4), (uint32_t)number);
  return mem_cuda_launched("filling memory");
}

status_t mem_cuda_check(struct mem_cuda_exec *x, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                        const struct mem_check *c)
{
  check<<<x->units * 8, THREADS, 0, cuda_queue_handle(queue)>>>((const uint32_t *)mem.handle, bytes / 4,
                                                                c->expect, c->arrays, x->found);
  return mem_cuda_launched("comparing memory");
}
