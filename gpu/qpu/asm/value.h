/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Values of expressions: what they are good for, and what the binary operators make of
 * them. */
#ifndef QPU_VALUE_H
#define QPU_VALUE_H

#include "gpu/qpu/asm/state.h"

struct qpu_value qpu_value_int(int64_t integer);
struct qpu_value qpu_value_float(double real);
int qpu_value_is_number(const struct qpu_value *value);
/** \brief A number, or a label's address. */
int qpu_value_is_constant(const struct qpu_value *value);
/** \brief A register as `:[number, kind, rotation]` counts it. */
int64_t qpu_value_raw(const struct qpu_value *value);
/** \brief A number as a double. */
double qpu_value_real(const struct qpu_value *value);

/** \brief The 32 bits that a constant loads: integers from −2³¹ to 2³²−1, floats as single
 * precision. */
status_t qpu_value_bits(struct qpu_asm *as, const struct qpu_value *value, uint32_t *bits);
/** \brief A constant as an integer (floats must be whole); as a condition. */
status_t qpu_value_integer(struct qpu_asm *as, const struct qpu_value *value, int64_t *integer);
status_t qpu_value_true(struct qpu_asm *as, const struct qpu_value *value, int *truth);

enum qpu_operator_id {
  OP_POWER,
  OP_MULTIPLY,
  OP_DIVIDE,
  OP_MODULO,
  OP_ADD,
  OP_SUBTRACT,
  OP_LEFT,
  OP_RIGHT,
  OP_LESS,
  OP_LESS_EQUAL,
  OP_GREATER,
  OP_GREATER_EQUAL,
  OP_EQUAL,
  OP_UNEQUAL,
  OP_LOGICAL_LEFT, /* from here on for whole numbers alone */
  OP_LOGICAL_RIGHT,
  OP_AND,
  OP_XOR,
  OP_OR,
  OP_BOTH,
  OP_ONE,
  OP_EITHER
};

struct qpu_operator {
  const char *text;
  enum qpu_operator_id id;
  int level; /**< larger binds tighter */
};

/** \brief The operator that a text starts with, or NULL. */
const struct qpu_operator *qpu_operator_find(const char *text);

/** \brief *value = *value operator *right, for numbers, labels and registers as far as that means
 * something. */
status_t qpu_operator_apply(struct qpu_asm *as, enum qpu_operator_id id, struct qpu_value *value,
                            const struct qpu_value *right);

#endif
