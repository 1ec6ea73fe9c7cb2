/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The assembler's state: source lines, known symbols and labels, and the program assembled
 * so far. */
#ifndef QPU_STATE_H
#define QPU_STATE_H

#include "gpu/qpu/asm/asm.h"
#include "gpu/qpu/isa/isa.h"

#define QPU_MAX_ARGS 12

enum qpu_value_type { QPU_VALUE_INT, QPU_VALUE_FLOAT, QPU_VALUE_REGISTER, QPU_VALUE_LABEL };

struct qpu_value {
  enum qpu_value_type type;
  int64_t integer; /**< value; for a label its byte address */
  double real;
  struct qpu_register_name reg;
  uint8_t rotate; /**< rotation in lanes upward; 0 for none */
};

struct qpu_symbol {
  char name[QPU_NAME_MAX];
  int depth; /**< depth of its scope */
  struct qpu_value value;
  char args[QPU_MAX_ARGS][QPU_NAME_MAX];
  int n_args;
  const char *text;  /**< expression of a symbol with arguments; NULL for other symbols */
  size_t first, end; /**< lines of a macro's body, 0 for other symbols */
};

struct qpu_line {
  const char *file;
  int number;
  char *text;
};

struct qpu_asm {
  struct qpu_line *lines;
  size_t n_lines, lines_capacity;
  struct qpu_symbol *symbols;
  size_t n_symbols, symbols_capacity;
  struct qpu_label *known; /**< labels of the first pass, used by references */
  size_t n_known, labels_capacity;
  int pass;
  struct qpu_program program; /**< the program so far */
  size_t words_capacity, origins_capacity;
  struct qpu_origin at; /**< source line for messages */
  int depth;            /**< depth of the innermost scope for symbols */
  int nesting;          /**< nesting of macros, includes and expressions */
  long lines_run;       /**< number of lines run in this pass */
};

/** \brief Logs "file:line: …" and returns STATUS_USAGE. */
status_t qpu_asm_fail(struct qpu_asm *as, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** \brief Returns the most recent symbol \a name, or NULL. */
struct qpu_symbol *qpu_symbol_find(struct qpu_asm *as, const char *name);
/** \brief Sets *value to the address that the first pass found for a label (0 in that pass). */
status_t qpu_label_find(struct qpu_asm *as, const char *name, struct qpu_value *value);
/** \brief Evaluates an expression that was defined with arguments. */
status_t qpu_expression_call(struct qpu_asm *as, const struct qpu_symbol *symbol,
                             const struct qpu_value *args, int n_args, struct qpu_value *value);

/** \brief Evaluates the expression at *text and advances *text past it. */
status_t qpu_expr_parse(struct qpu_asm *as, const char **text, struct qpu_value *value);
/** \brief Like qpu_expr_parse, and fails if anything follows the expression. */
status_t qpu_expr_whole(struct qpu_asm *as, const char *text, struct qpu_value *value);
/** \brief Parses the arguments of \a callee, separated by commas, up to the character \a end. */
status_t qpu_expr_arguments(struct qpu_asm *as, const char **text, char end, const char *callee,
                            struct qpu_value args[QPU_MAX_ARGS], int *n);

/** \brief Copies the letters, digits and underscores at *text and advances past them. Returns their
 * number. */
size_t qpu_word(const char **text, char name[QPU_NAME_MAX]);
/** \brief Like qpu_word for a name, which does not begin with a digit; returns 0 if there is no
 * name. */
int qpu_identifier(const char **text, char name[QPU_NAME_MAX]);
const char *qpu_skip_space(const char *text);

struct qpu_value qpu_value_int(int64_t integer);
/** \brief Returns 1 if the value is a number or a label's address. */
int qpu_value_is_constant(const struct qpu_value *value);
/** \brief Sets *bits to the bits of a constant: an integer from −2³¹ to 2³²−1 or a 32-bit float. */
status_t qpu_value_bits(struct qpu_asm *as, const struct qpu_value *value, uint32_t *bits);
/** \brief Sets *integer to an integer value; fails for values of other types. */
status_t qpu_value_integer(struct qpu_asm *as, const struct qpu_value *value, int64_t *integer);

status_t qpu_encode_line(struct qpu_asm *as, const char *text, uint64_t *word);

#endif
