/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The binary operators of expressions. */
#ifndef QPU_OPERATOR_H
#define QPU_OPERATOR_H

#include "gpu/qpu/asm/expr.h"

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
