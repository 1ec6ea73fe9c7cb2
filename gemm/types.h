/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Number types of a product: the storage of A, B and C, and the precision of the
 * arithmetic. */
#ifndef GEMM_TYPES_H
#define GEMM_TYPES_H

#include <stddef.h>
#include <stdint.h>

/** A product's type, named after its operands. C and sums are float, except for GEMM_F16_F16 and
 * GEMM_F64. */
enum gemm_type {
  GEMM_F32,     /**< float throughout */
  GEMM_TF32,    /**< stored as float, multiplied as TF32: 10 bits of fraction */
  GEMM_F16,     /**< A and B in half precision */
  GEMM_F16_F16, /**< A, B, C and sums in half precision */
  GEMM_BF16,    /**< A and B in bfloat16 */
  GEMM_F64,     /**< double throughout */
  GEMM_TYPES
};

/** Bit of a type in a set of types. */
#define GEMM_BIT(type) (1u << (type))

struct gemm_type_traits {
  const char *name;
  const char *about;
  size_t operand_bytes; /**< bytes per element of A and B */
  size_t result_bytes;  /**< bytes per element of C */
  double
      /** relative error of an operand that the kernel rounds before it multiplies, otherwise 0 */
      unit_operand;
  double unit_sum;    /**< unit roundoff of the sums */
  double unit_result; /**< unit roundoff of C */
};

extern const struct gemm_type_traits gemm_types[GEMM_TYPES];

/** \brief Returns the number of digits with which messages can distinguish all values. */
static inline int gemm_digits(enum gemm_type type)
{
  return type == GEMM_F64 ? 17 : 9;
}

/** \brief Returns the nearest half-precision number, ties to even. NaN stays NaN, overflow gives
 * infinity. */
uint16_t gemm_half(float value);

/** \brief Returns \a value rounded to float, or unchanged if the type is GEMM_F64. */
double gemm_rounded(enum gemm_type type, double value);

/** \brief Return element \a index of a stored matrix: A or B for gemm_operand_get, C for
 * gemm_result_get. */
double gemm_operand_get(enum gemm_type type, const void *matrix, int64_t index);
double gemm_result_get(enum gemm_type type, const void *matrix, int64_t index);

/** \brief Store \a value, rounded to the type (first to float, unless the type is GEMM_F64). */
void gemm_operand_set(enum gemm_type type, void *matrix, int64_t index, double value);
void gemm_result_set(enum gemm_type type, void *matrix, int64_t index, double value);

#endif
