/* SPDX-License-Identifier: MIT */
#include "gemm/types.h"

#include <math.h>
#include <string.h>

const struct gemm_type_traits gemm_types[GEMM_TYPES] = {
    [GEMM_F32] = {"f32", "float throughout", 4, 4, 0, 0x1p-24, 0x1p-24},
    /* Hardware may truncate an operand: an error of up to one unit in the last place. */
    [GEMM_TF32] = {"tf32", "float, multiplied as TF32, float sums", 4, 4, 0x1p-10, 0x1p-24, 0x1p-24},
    [GEMM_F16] = {"f16", "half operands, float sums and result", 2, 4, 0, 0x1p-24, 0x1p-24},
    [GEMM_F16_F16] = {"f16-f16", "half operands, sums and result", 2, 2, 0, 0x1p-11, 0x1p-11},
    [GEMM_BF16] = {"bf16", "bfloat16 operands, float sums and result", 2, 4, 0, 0x1p-24, 0x1p-24},
    [GEMM_F64] = {"f64", "double throughout", 8, 8, 0, 0x1p-53, 0x1p-53},
};

static uint32_t gemm_float_bits(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float gemm_bits_float(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Half precision has steps of 2⁻²⁴ below 2⁻¹⁴, and eleven significant bits above. */
uint16_t gemm_half(float value)
{
  uint16_t sign = (uint16_t)(gemm_float_bits(value) >> 16 & 0x8000);
  float size = fabsf(value);
  if (isnan(value)) return (uint16_t)(sign | 0x7e00);
  if (size >= 65520.0f) return (uint16_t)(sign | 0x7c00);
  if (size < 0x1p-14f) return (uint16_t)(sign | (uint16_t)nearbyintf(size * 0x1p24f));
  uint32_t bits = gemm_float_bits(size);
  bits += 0xfff + (bits >> 13 & 1);
  return (uint16_t)(sign | (uint16_t)((bits - (112u << 23)) >> 13));
}

static float gemm_from_half(uint16_t half)
{
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
  float size = rest < 0x400 ? (float)rest * 0x1p-24f : gemm_bits_float((rest << 13) + (112u << 23));
  if (rest >= 0x7c00) size = gemm_bits_float(0x7f800000u | (rest & 0x3ff) << 13);
  return gemm_bits_float(gemm_float_bits(size) | sign);
}

/* GCC 12 drops this rounding if the function is inlined and vectorised for two values. */
double gemm_rounded(enum gemm_type type, double value)
{
  return type == GEMM_F64 ? value : (double)(float)value;
}

static uint16_t gemm_bfloat(float value)
{
  uint32_t bits = gemm_float_bits(value);
  if (isnan(value)) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double gemm_operand_get(enum gemm_type type, const void *matrix, int64_t index)
{
  if (type == GEMM_F64) return ((const double *)matrix)[index];
  if (type == GEMM_BF16) return (double)gemm_bits_float((uint32_t)((const uint16_t *)matrix)[index] << 16);
  if (type == GEMM_F16 || type == GEMM_F16_F16)
    return (double)gemm_from_half(((const uint16_t *)matrix)[index]);
  return (double)((const float *)matrix)[index];
}

double gemm_result_get(enum gemm_type type, const void *matrix, int64_t index)
{
  if (type == GEMM_F64) return ((const double *)matrix)[index];
  if (type == GEMM_F16_F16) return (double)gemm_from_half(((const uint16_t *)matrix)[index]);
  return (double)((const float *)matrix)[index];
}

void gemm_operand_set(enum gemm_type type, void *matrix, int64_t index, double value)
{
  if (type == GEMM_F64)
    ((double *)matrix)[index] = value;
  else if (type == GEMM_BF16)
    ((uint16_t *)matrix)[index] = gemm_bfloat((float)value);
  else if (type == GEMM_F16 || type == GEMM_F16_F16)
    ((uint16_t *)matrix)[index] = gemm_half((float)value);
  else
    ((float *)matrix)[index] = (float)value;
}

void gemm_result_set(enum gemm_type type, void *matrix, int64_t index, double value)
{
  if (type == GEMM_F64)
    ((double *)matrix)[index] = value;
  else if (type == GEMM_F16_F16)
    ((uint16_t *)matrix)[index] = gemm_half((float)value);
  else
    ((float *)matrix)[index] = (float)value;
}
