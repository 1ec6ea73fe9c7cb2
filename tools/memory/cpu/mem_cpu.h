/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One thread's share of mem-gpu's work on the CPU: whole pieces of MEM_CPU_PIECE bytes. */
#ifndef TOOLS_MEMORY_CPU_MEM_CPU_H
#define TOOLS_MEMORY_CPU_MEM_CPU_H

#include <stddef.h>
#include <stdint.h>

#define MEM_CPU_PIECE ((uint64_t)4096)

extern uint32_t (*const mem_cpu_sum)(const uint32_t *from, size_t words);

/** \brief Sets to[w] = from[0][w] ^ from[1][w] ^ … */
extern void (*const mem_cpu_combine)(uint32_t *to, const uint32_t *const *from, int reads, size_t words);

/** \brief Does the roofline's work (flops.h) on `words` words. Returns the sum of the results'
 * bits. */
uint32_t mem_cpu_flops(const uint32_t *from, size_t words, int flop16);
/** \brief Same as mem_cpu_flops, one word at a time: the reference for all other versions. */
uint32_t mem_cpu_flops_plain(const uint32_t *from, size_t words, int flop16);

/* Stores that bypass the caches; NULL if they were not compiled in. `to` is a multiple of 16 bytes,
 * and n of 4. */
extern void (*const mem_cpu_copy_streaming)(float *to, const float *from, size_t n);
/** Sets to = x + y. */
extern void (*const mem_cpu_add_streaming)(float *to, const float *x, const float *y, size_t n);

#endif
