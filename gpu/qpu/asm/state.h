/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The assembler's state: the lines that it reads, the symbols and labels that it knows, the
 * program that it makes. */
#ifndef QPU_STATE_H
#define QPU_STATE_H

#include "gpu/qpu/asm/asm.h"
#include "gpu/qpu/isa/isa.h"

#define QPU_MAX_ARGS 12

enum qpu_value_type { QPU_VALUE_INT, QPU_VALUE_FLOAT, QPU_VALUE_REGISTER, QPU_VALUE_LABEL };

struct qpu_value {
  enum qpu_value_type type;
  int64_t integer; /**< of a label the byte address */
  double real;
  struct qpu_register_name reg;
  uint8_t rotate; /**< lanes upward; 0 for none */
};

struct qpu_symbol {
  char name[QPU_NAME_MAX];
  int depth; /**< of the scope that it belongs to */
  struct qpu_value value;
  char args[QPU_MAX_ARGS][QPU_NAME_MAX];
  int n_args;
  const char *text;  /**< of an expression with arguments; NULL for other symbols */
  size_t first, end; /**< lines of a macro's body, else 0 */
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
  struct qpu_label *known; /**< labels of the first pass, which references see */
  size_t n_known, labels_capacity;
  int pass;
  struct qpu_program program; /**< as far as it is made */
  size_t words_capacity, origins_capacity;
  struct qpu_origin at; /**< what messages name */
  int depth;            /**< of the innermost scope for symbols */
  int nesting;          /**< macros, includes and expressions in each other */
  long lines_run;       /**< in this pass */
};

/** \brief Logs "file:line: …" and returns STATUS_USAGE. */
status_t qpu_asm_fail(struct qpu_asm *as, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** \brief The newest symbol of that name, or NULL. */
struct qpu_symbol *qpu_symbol_find(struct qpu_asm *as, const char *name);
/** \brief A label's address as the first pass saw it (0 during that pass). */
status_t qpu_label_find(struct qpu_asm *as, const char *name, struct qpu_value *value);
/** \brief The value of an expression with arguments. */
status_t qpu_expression_call(struct qpu_asm *as, const struct qpu_symbol *symbol,
                             const struct qpu_value *args, int n_args, struct qpu_value *value);

/** \brief Evaluates the expression at *text and advances *text past it. */
status_t qpu_expr_parse(struct qpu_asm *as, const char **text, struct qpu_value *value);
/** \brief The same, and nothing may follow. */
status_t qpu_expr_whole(struct qpu_asm *as, const char *text, struct qpu_value *value);
/** \brief The arguments of \a callee, separated by commas, up to the character \a end. */
status_t qpu_expr_arguments(struct qpu_asm *as, const char **text, char end, const char *callee,
                            struct qpu_value args[QPU_MAX_ARGS], int *n);

/** \brief Copies the letters, digits and underscores at *text and advances past them; returns their
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

status_t qpu_encode_line(struct qpu_asm *as, const char *text, uint64_t *word);

#endif
