/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Known content of memory, so that every word of a result can be checked, and the order of a
 * pointer chase.
 *
 * tools/memory/opencl/common.cl has the same functions. They are cheap on 32-bit hardware. */
#ifndef TOOLS_MEMORY_KERNELS_PATTERN_H
#define TOOLS_MEMORY_KERNELS_PATTERN_H

#include <stdint.h>

#ifdef __CUDACC__
#define MEM_SHARED static __host__ __device__ __forceinline__
#else
#define MEM_SHARED static inline
#endif

/** \brief A 32-bit hash with the constants of Wellons's "lowbias32", which have little bias. */
MEM_SHARED uint32_t mem_mix32(uint32_t x)
{
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/** \brief Returns word \a w of the array with number \a array. */
MEM_SHARED uint32_t mem_word(uint32_t array, uint64_t w)
{
  return mem_mix32((uint32_t)w + array * 0x9e3779b9u + (uint32_t)(w >> 32) * 0x85ebca6bu);
}

/** \brief Returns the exclusive or of word \a w of arrays 0 … \a arrays − 1. */
MEM_SHARED uint32_t mem_word_xor(int arrays, uint64_t w)
{
  uint32_t x = 0;
  for (int a = 0; a < arrays; a++) x ^= mem_word((uint32_t)a, w);
  return x;
}

/** \brief Returns word \a w as the write-only kernel stores it. Computing it takes one
 * multiplication, so that only the memory can limit the speed. */
MEM_SHARED uint32_t mem_word_written(uint64_t w)
{
  return (uint32_t)w * 0x9e3779b1u + 0x7f4a7c15u;
}

/** A chase through `nodes` slots of `stride` bytes. Each slot has one node, on one of its lines.
 * `base` is added to every pointer. */
struct mem_ring {
  uint64_t base, nodes;
  uint32_t stride, line;
};

/** \brief Returns element \a k of a permutation of 0 … nodes−1. Each round is a bijection of the
 * range of the next power of two; values beyond nodes−1 take further rounds (cycle walking). */
MEM_SHARED uint64_t mem_ring_permute(const struct mem_ring *ring, uint64_t k)
{
  uint64_t n = ring->nodes, mask = 1, x = k;
  int bits = 1;
  while (mask + 1 < n) {
    mask = 2 * mask + 1;
    bits++;
  }
  do {
    for (int round = 0; round < 3; round++) {
      x = (x * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u) & mask;
      x ^= x >> ((bits + 1) / 2);
    }
  } while (x >= n);
  return x;
}

/** \brief Returns the position of the chase at step \a k, as stored in memory. In slots wider than
 * a line, the node is on a random line of its slot. At equal places in their slots, all nodes would
 * compete for a few sets of the caches. */
MEM_SHARED uint64_t mem_ring_at(const struct mem_ring *ring, uint64_t k)
{
  uint64_t node = mem_ring_permute(ring, k % ring->nodes);
  uint32_t lines = ring->stride / ring->line;
  uint64_t line = lines > 1 ? mem_mix32((uint32_t)node) % lines : 0;
  return ring->base + node * ring->stride + line * ring->line;
}

#endif
