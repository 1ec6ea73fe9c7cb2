/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The roofline's work on each 16 bytes of memory. Every backend computes the same bits.
 *
 * Four words become floats in [1, 2). The number of operations on them is `flop16`. 1: one addition
 * to the first float; 2: one multiply-add on the first float; 4: one multiply-add on each of the
 * first two floats; 8·m: m successive multiply-adds on each. The results' bits are added up. */
#ifndef TOOLS_MEMORY_KERNELS_FLOPS_H
#define TOOLS_MEMORY_KERNELS_FLOPS_H

#include "tools/memory/kernels/pattern.h"

/** Constants of the multiply-add x·A + B. If it is repeated, x slowly approaches a fixed point near
 * 0.75 from both sides, so that bits change at every step and nothing overflows. */
#define MEM_FLOPS_A (-0.99f)
#define MEM_FLOPS_B 1.5f

/** \brief Maps a word to the bits of a float in [1, 2). */
MEM_SHARED uint32_t mem_flops_bits(uint32_t word)
{
  return (word & 0x007fffffu) | 0x3f800000u;
}

enum mem_type { MEM_FP32, MEM_TF32, MEM_FP16, MEM_BF16, MEM_TYPES };

/** \brief Maps a word to one value for a matrix unit, or to two if they have 16 bits. Signs and
 * fractions are random; absolute values are in [0.5, 1). */
MEM_SHARED uint32_t mem_tensor_bits(enum mem_type type, uint32_t word)
{
  if (type == MEM_TF32) return (word & 0x807fe000u) | 0x3f000000u;
  if (type == MEM_FP16) return (word & 0x83ff83ffu) | 0x38003800u;
  return (word & 0x807f807fu) | 0x3f003f00u;
}

MEM_SHARED float mem_float(uint32_t bits)
{
  union {
    uint32_t bits;
    float value;
  } u = {bits};
  return u.value;
}

/** \brief Returns the value in the lower half of mem_tensor_bits(). Its fraction is `shift` bits
 * further left in a float. */
MEM_SHARED double mem_half(uint32_t bits, int shift)
{
  return (double)mem_float((bits & 0x8000u) << 16 | 0x3f000000u | (bits << shift & 0x007fffffu));
}

/** \brief Returns the sum of the values in a word of mem_tensor_bits(). */
MEM_SHARED double mem_tensor_sum(enum mem_type type, uint32_t word)
{
  const int shift = type == MEM_FP16 ? 13 : 16;
  if (type == MEM_TF32) return (double)mem_float(mem_tensor_bits(type, word));
  return mem_half(word, shift) + mem_half(word >> 16, shift);
}

/** All elements in column n (0 … 7) of the second factor are MEM_TENSOR_B(n), so that the sum of a
 * product's elements is the sum of the first factor's elements times MEM_TENSOR_B_SUM, whatever the
 * layout of the fragments. */
#define MEM_TENSOR_B(n)  ((float)((n) % 2 ? -0.5 : 0.75))
#define MEM_TENSOR_B_SUM 1.0
/** operations per 16 bytes if each fragment is used once; half of this for TF32 */
#define MEM_TENSOR_FLOP16 128

#endif
