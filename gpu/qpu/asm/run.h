/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Running lines: labels, directives, macros, functions and instructions. */
#ifndef QPU_RUN_H
#define QPU_RUN_H

#include "gpu/qpu/asm/state.h"

/** \brief Runs lines[first] to lines[end − 1]. */
status_t qpu_asm_run(struct qpu_asm *as, size_t first, size_t end);

/** \brief Calls a function symbol, which must stay where it is: the assembler's `call`. */
status_t qpu_function_call(struct qpu_asm *as, const struct qpu_symbol *function,
                           const struct qpu_value *args, int n_args, struct qpu_value *value);

#endif
