/* SPDX-License-Identifier: MIT */
/* The pointer chase: one thread loads from the address that its previous load returned. */
#include "tools/memory/cuda/mem_cuda.h"

#define THREADS 256
#define UNROLL  8

static __global__ void ring_fill(char *mem, const struct mem_ring ring)
{
  uint64_t step = (uint64_t)gridDim.x * THREADS;
  for (uint64_t k = blockIdx.x * (uint64_t)THREADS + threadIdx.x; k < ring.nodes; k += step)
    *(uint64_t *)(mem + (mem_ring_at(&ring, k) - ring.base)) = mem_ring_at(&ring, k + 1);
}

/* Loads from memory through all caches. The instruction is volatile, so that the compiler does not
 * move it across the readings of the clock. */
static __device__ __forceinline__ uint64_t load(uint64_t address)
{
  uint64_t value;
  asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

static __global__ void chase(uint64_t at, uint64_t hops, unsigned long long *result)
{
  uint64_t hop = 0;
  long long begin = clock64();
  for (; hop + UNROLL <= hops; hop += UNROLL) {
#pragma unroll
    for (int u = 0; u < UNROLL; u++) at = load(at);
  }
  for (; hop < hops; hop++) at = load(at);
  result[0] = at; /* the store waits for the last load, so the clock is read after it */
  asm volatile("" ::"l"(at) : "memory");
  result[1] = (unsigned long long)(clock64() - begin);
}

status_t mem_cuda_ring_fill(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem,
                            const struct mem_ring *ring)
{
  ring_fill<<<mem_cuda_units(exec) * 8, THREADS, 0, cuda_queue_handle(queue)>>>((char *)mem.handle, *ring);
  return mem_cuda_launched("linking a chase");
}

status_t mem_cuda_chase(struct mem_cuda_exec *x, struct gpu_queue *queue, const struct mem_chase *c)
{
  chase<<<1, 1, 0, cuda_queue_handle(queue)>>>(c->start, c->hops, x->result);
  return mem_cuda_launched("launching a chase");
}
