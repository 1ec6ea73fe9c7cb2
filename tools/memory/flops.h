/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The roofline's work: what each 16 bytes of memory are turned into, on every backend to the
 * same bits.
 *
 * Four words become floats in [1, 2). `flop16` = 1: one addition on the first; 2 and 4: one
 * multiply-add on the first or on the first two; 8·m: m multiply-adds on each, one after the other.
 * The results' bits are added up. */
#ifndef TOOLS_MEMORY_FLOPS_H
#define TOOLS_MEMORY_FLOPS_H

#include "tools/memory/pattern.h"

/** Fixed point 0.75 and a slow approach with changing sign: bits change at every step, and nothing
 * overflows. */
#define MEM_FLOPS_A (-0.99f)
#define MEM_FLOPS_B 1.5f

/** \brief The bits of a word as those of a float in [1, 2). */
MEM_SHARED uint32_t mem_flops_bits(uint32_t word)
{
  return (word & 0x007fffffu) | 0x3f800000u;
}

/** Values that a matrix unit reads: a random sign and fraction, in ±[0.5, 1) for TF32, BF16 and
 * FP16, two of 16 bits to a word. */
MEM_SHARED uint32_t mem_tensor_bits(uint32_t word, uint32_t keep, uint32_t exponent)
{
  return (word & keep) | exponent;
}
#define MEM_TF32_KEEP     0x807fe000u
#define MEM_TF32_EXPONENT 0x3f000000u
#define MEM_FP16_KEEP     0x83ff83ffu
#define MEM_FP16_EXPONENT 0x38003800u
#define MEM_BF16_KEEP     0x807f807fu
#define MEM_BF16_EXPONENT 0x3f003f00u

/** Column n of the second factor, 0 … 7, holds MEM_TENSOR_B(n) everywhere, so that the sum of a
 * product is the sum of the first factor times the sum over n, whatever the layout of the
 * fragments. */
#define MEM_TENSOR_B(n)   ((float)((n) % 2 ? -0.5 : 0.75))
#define MEM_TENSOR_B_SUM  1.0
#define MEM_TENSOR_FLOP16 128 /**< of a product a fragment of 16-bit values; 64 for TF32 */

#endif
