/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One operation of a line as it is written, before it has a place in an instruction word. */
#ifndef QPU_OPERATION_H
#define QPU_OPERATION_H

#include "gpu/qpu/asm/state.h"

#define QPU_MAX_OPERATIONS 4
#define QPU_MAX_OPERANDS   4

struct qpu_operation {
  char name[QPU_NAME_MAX];
  int cond;       /**< enum qpu_cond; always when none is written */
  int has_cond;   /**< a condition is written */
  int branch;     /**< branch condition; always when none is written */
  int has_branch; /**< a branch condition is written */
  int setf;
  int negates;               /**< add stands for sub, and sub for add */
  char pack[12], unpack[12]; /**< written at the opcode, "" for none */
  struct qpu_value args[QPU_MAX_OPERANDS];
  int n_args;
};

/** \brief Reads the operations of a line, separated by ';'. Empty ones are dropped. */
status_t qpu_operations_parse(struct qpu_asm *as, const char *text, struct qpu_operation *operations, int *n);

/** \brief The code of a name in a table of \a n names, −1 when it is not there. */
int qpu_code_of(const char *const *table, int n, const char *name);
/** \brief The same in a table of an ALU's operations. */
int qpu_op_code(const struct qpu_op *ops, int n, const char *name);

#endif
