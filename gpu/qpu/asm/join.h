/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Lines that become one instruction: the first ends with ';' and the next begins so,
 * wherever macros, conditions and .back bring them together. */
#ifndef QPU_JOIN_H
#define QPU_JOIN_H

#include "gpu/qpu/asm/operation.h"

#define QPU_MAX_BACK 12

/** An instruction as its line has it. */
struct qpu_instruction {
  struct qpu_operation operations[QPU_MAX_OPERATIONS];
  int n;
  int begins, ends; /**< with ';' */
  size_t at;        /**< its word; that of no word where it cannot join */
};

/** \brief Emits a line of operations, or joins it to the one before. */
status_t qpu_join_line(struct qpu_asm *as, const char *text);

/** \brief The last \a n instructions, as far as they can join. */
status_t qpu_join_take(struct qpu_asm *as, int n, struct qpu_instruction *taken);

/** \brief Emits a word again that was taken; only the \a first may join what stands before it now.
 * */
status_t qpu_join_put(struct qpu_asm *as, const struct qpu_instruction *taken, uint64_t word, int first);

#endif
