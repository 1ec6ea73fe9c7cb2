/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/isa/pack.h"

#include <string.h>

#define REPLICATE 0x01010101u

static uint32_t float_from_half(uint32_t half)
{
  uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 0x3ff;
  if (exponent == 0) return sign;
  if (exponent == 31) return sign | 0x7f800000u | mantissa << 13;
  return sign | (exponent + 112) << 23 | mantissa << 13;
}

static uint32_t half_from_float(uint32_t bits)
{
  uint32_t sign = bits >> 16 & 0x8000, mantissa = bits >> 13 & 0x3ff;
  int exponent = (int)(bits >> 23 & 255) - 112;
  if (exponent <= 0) return 0; /* without a sign, as on the part */
  if (exponent >= 31) return sign | 0x7c00;
  return sign | (uint32_t)exponent << 10 | mantissa;
}

/* k/255 to the nearest float; the division is done in integers, whatever the rounding mode. */
static uint32_t float_from_byte(uint32_t byte)
{
  if (byte == 0) return 0;
  int exponent = 127;
  uint64_t numerator = byte;
  while (numerator < 255) numerator *= 2, exponent--;
  uint64_t mantissa = ((numerator << 24) / 255 + 1) >> 1; /* 24 bits from 2^23 to 2^24, rounded */
  if (mantissa == 1u << 24) mantissa >>= 1, exponent++;
  return (uint32_t)exponent << 23 | ((uint32_t)mantissa & 0x7fffff);
}

static uint32_t unpack_lane(uint32_t bits, int mode, int as_float)
{
  uint32_t half = mode == 2 ? bits >> 16 : bits & 0xffff;
  if (mode == 1 || mode == 2) return as_float ? float_from_half(half) : (uint32_t)(int32_t)(int16_t)half;
  if (mode == 3) return (bits >> 24) * REPLICATE;
  uint32_t byte = bits >> 8 * (mode - 4) & 255;
  return as_float ? float_from_byte(byte) : byte;
}

void qpu_unpack(qpu_vec *out, const qpu_vec *in, int mode, int as_float)
{
  if (mode == 0) {
    *out = *in;
    return;
  }
  for (int i = 0; i < QPU_LANES; i++) (*out)[i] = unpack_lane((*in)[i], mode, as_float);
}

static uint32_t clamp(uint32_t bits, int32_t low, int32_t high)
{
  int32_t value = (int32_t)bits;
  return (uint32_t)(value < low ? low : value > high ? high : value);
}

static uint32_t put_byte(uint32_t old, uint32_t byte, int mode)
{
  int shift = 8 * ((mode & 7) - 4);
  if ((mode & 7) == 3) return (byte & 255) * REPLICATE;
  return (old & ~(255u << shift)) | (byte & 255) << shift;
}

static uint32_t pack_lane(uint32_t old, uint32_t bits, int mode, int as_float)
{
  int saturates = mode >= 8, form = mode & 7;
  if (form == 0) return bits;
  if (form > 2) return put_byte(old, saturates ? clamp(bits, 0, 255) : bits, mode);
  uint32_t half = as_float    ? half_from_float(bits)
                  : saturates ? clamp(bits, -32768, 32767) & 0xffff
                              : bits & 0xffff;
  return form == 1 ? (old & 0xffff0000u) | half : (old & 0xffffu) | half << 16;
}

void qpu_pack(qpu_vec *out, const qpu_vec *result, int mode, int as_float)
{
  for (int i = 0; i < QPU_LANES; i++) (*out)[i] = pack_lane((*out)[i], (*result)[i], mode, as_float);
}

/* Nearest of 0 to 255; beyond both ends it stays there. */
static uint32_t byte_from_float(uint32_t bits)
{
  float value;
  if (bits & 0x80000000u || (bits & 0x7f800000u) == 0) return 0;
  if (bits >= 0x3f800000u) return 255;
  memcpy(&value, &bits, sizeof value);
  return (uint32_t)((double)value * 255.0 + 0.5);
}

void qpu_pack_mul(qpu_vec *out, const qpu_vec *result, int mode)
{
  for (int i = 0; i < QPU_LANES; i++) (*out)[i] = put_byte((*out)[i], byte_from_float((*result)[i]), mode);
}

void qpu_saturate(qpu_vec *out, int op, const qpu_vec *a, const qpu_vec *b)
{
  for (int i = 0; i < QPU_LANES; i++) {
    int64_t x = (int32_t)(*a)[i], y = (int32_t)(*b)[i];
    int64_t exact = op == QPU_A_SUB ? x - y : x + y;
    (*out)[i] = (uint32_t)(exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact);
  }
}
