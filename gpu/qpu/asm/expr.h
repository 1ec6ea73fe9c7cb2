/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Expressions, their values, and the words that they are made of. */
#ifndef QPU_EXPR_H
#define QPU_EXPR_H

#include "gpu/qpu/asm/state.h"

/** \brief Evaluates the expression at *text and moves *text behind it. */
status_t qpu_expr_parse(struct qpu_asm *as, const char **text, struct qpu_value *value);
/** \brief The same, and nothing may follow. */
status_t qpu_expr_whole(struct qpu_asm *as, const char *text, struct qpu_value *value);
/** \brief The arguments of \a callee, separated by commas, up to the character \a end. */
status_t qpu_expr_arguments(struct qpu_asm *as, const char **text, char end, const char *callee,
                            struct qpu_value args[QPU_MAX_ARGS], int *n);

/** \brief Copies the letters, digits and underscores at *text and moves behind them; returns their
 * number. */
size_t qpu_word(const char **text, char name[QPU_NAME_MAX]);
/** \brief The same for a name, which begins with no digit; 0 when there is none. */
int qpu_identifier(const char **text, char name[QPU_NAME_MAX]);
const char *qpu_skip_space(const char *text);

struct qpu_value qpu_value_int(int64_t integer);
/** \brief A number, or a label's address. */
int qpu_value_is_constant(const struct qpu_value *value);
/** \brief The 32 bits that a constant loads: integers from −2³¹ to 2³²−1, floats as single
 * precision. */
status_t qpu_value_bits(struct qpu_asm *as, const struct qpu_value *value, uint32_t *bits);
/** \brief A whole number. */
status_t qpu_value_integer(struct qpu_asm *as, const struct qpu_value *value, int64_t *integer);

#endif
