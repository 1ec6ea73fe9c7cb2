/* SPDX-License-Identifier: MIT */
/** \file \brief A model of what one lane of the QPU computes, in integers, written independently of
 * the emulator. */
#ifndef TESTS_UNIT_QPU_MODEL_H
#define TESTS_UNIT_QPU_MODEL_H

#include "tests/unit/qpu_unit.h"

#include <math.h>

#include "gpu/qpu/isa/isa.h"

static inline uint32_t no_denormal(uint32_t x)
{
  return x & 0x7f800000u ? x : x & 0x80000000u;
}

/** mantissa · 2^exponent, toward zero. */
static inline uint32_t pack_float(int negative, uint64_t mantissa, int exponent)
{
  uint32_t sign = negative ? 0x80000000u : 0;
  if (mantissa == 0) return sign;
  while (mantissa >= 1u << 24) mantissa >>= 1, exponent++;
  while (mantissa < 1u << 23) mantissa <<= 1, exponent--;
  exponent += 150;
  if (exponent >= 255) return sign | 0x7f800000u;
  if (exponent <= 0) return sign;
  return sign | (uint32_t)exponent << 23 | ((uint32_t)mantissa & 0x7fffff);
}

static inline uint64_t mantissa_of(uint32_t x)
{
  return (x & 0x7fffff) | 0x800000;
}

static inline int exponent_of(uint32_t x)
{
  return (int)(x >> 23 & 255) - 150;
}

static inline int is_infinite(uint32_t x)
{
  return (x & 0x7f800000u) == 0x7f800000u;
}

static inline uint32_t model_fadd(uint32_t a, uint32_t b)
{
  a = no_denormal(a);
  b = no_denormal(b);
  if (is_infinite(a) && is_infinite(b)) return (a ^ b) >> 31 ? 0xff800000u : (a & 0x80000000u) | 0x7f800000u;
  if (is_infinite(a)) return (a & 0x80000000u) | 0x7f800000u;
  if (is_infinite(b)) return (b & 0x80000000u) | 0x7f800000u;
  if ((a & 0x7fffffff) < (b & 0x7fffffff)) {
    uint32_t swap = a;
    a = b;
    b = swap;
  }
  if ((b & 0x7fffffff) == 0) return (a & 0x7fffffff) ? a : a & b; /* −0 only of two */
  int distance = exponent_of(a) - exponent_of(b), subtract = (a ^ b) >> 31;
  uint64_t large = mantissa_of(a) << 38, small = mantissa_of(b) << 38,
           moved = distance > 62 ? 0 : small >> distance;
  int inexact = distance > 62 || moved << distance != small;
  uint64_t sum = subtract ? large - moved - (uint64_t)inexact : large + moved;
  if (sum == 0) return 0;
  return pack_float((int)(a >> 31), sum, exponent_of(a) - 38);
}

static inline uint32_t model_fmul(uint32_t a, uint32_t b)
{
  uint32_t sign = (a ^ b) & 0x80000000u;
  a = no_denormal(a);
  b = no_denormal(b);
  if ((a & 0x7fffffff) == 0 || (b & 0x7fffffff) == 0) return sign;
  if (is_infinite(a) || is_infinite(b)) return sign | 0x7f800000u;
  return pack_float(sign != 0, mantissa_of(a) * mantissa_of(b), exponent_of(a) + exponent_of(b));
}

static inline uint32_t model_bytes(int op, uint32_t a, uint32_t b)
{
  uint32_t result = 0;
  for (int i = 0; i < 32; i += 8) {
    int x = a >> i & 255, y = b >> i & 255, z = 0;
    if (op == QPU_M_V8MIN) z = x < y ? x : y;
    if (op == QPU_M_V8SUBS) z = x > y ? x - y : 0;
    result |= (uint32_t)z << i;
  }
  return result;
}

static inline uint32_t model_add(int op, uint32_t a, uint32_t b)
{
  switch (op) {
  case QPU_A_FADD:
    return model_fadd(a, b);
  case QPU_A_FSUB:
    return model_fadd(a, b ^ 0x80000000u);
  case QPU_A_ADD:
    return a + b;
  case QPU_A_SUB:
    return a - b;
  case QPU_A_SHR:
    return a >> b % 32;
  case QPU_A_SHL:
    return (uint32_t)((uint64_t)a << b % 32);
  case QPU_A_MIN:
    return (int32_t)a < (int32_t)b ? a : b;
  case QPU_A_MAX:
    return (int32_t)a < (int32_t)b ? b : a;
  case QPU_A_AND:
    return ~(~a | ~b);
  case QPU_A_OR:
    return ~(~a & ~b);
  case QPU_A_XOR:
    return (a | b) - (a & b);
  default:
    return 0;
  }
}

static inline uint32_t model_mul(int op, uint32_t a, uint32_t b)
{
  if (op == QPU_M_NOP) return 0;
  if (op == QPU_M_FMUL) return model_fmul(a, b);
  if (op == QPU_M_MUL24) return (uint32_t)((uint64_t)(a % 0x1000000) * (b % 0x1000000));
  return model_bytes(op, a, b);
}

/* Returns random bits, numbers near each other, or special values, to cause carries, cancellation
 * and overflow. */
static inline uint32_t interesting(uint64_t *seed)
{
  static const uint32_t special[] = {
      0,           0x80000000u, 1,          0xffffffffu, 0x7fffffff, 0x7f800000u, 0xff800000u, 0x7f7fffff,
      0xff7fffffu, 0x7fc00000u, 0x00800000, 0x007fffff,  0x3f800000, 0xbf800000u, 0x4f000000,  0xcf000000u,
      0x3f7fffff,  0x40000000,  0x00ffffff, 0x01000000,  31,         32,          33};
  uint64_t r = qpu_random(seed);
  switch (r % 4) {
  case 0:
    return special[(r >> 8) % (sizeof special / sizeof special[0])];
  case 1:
    return (uint32_t)(r >> 8);
  case 2:
    return (uint32_t)(0x3f000000 + (r >> 32) % 0x02000000) | (uint32_t)(r >> 8 & 1) << 31;
  default:
    return (uint32_t)(r >> 8 & 63) - 16;
  }
}

#endif
