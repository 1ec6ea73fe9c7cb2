/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Values and expressions of the assembler, and the symbols that stand for them. */
#ifndef QPU_EXPR_H
#define QPU_EXPR_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "gpu/qpu/asm/asm.h"
#include "gpu/qpu/isa/isa.h"

#define QPU_MAX_ARGS  12
#define QPU_ROTATE_R5 16

struct qpu_asm;

enum qpu_value_type {
  QPU_VALUE_INT,
  QPU_VALUE_FLOAT,
  QPU_VALUE_ELEMENTS, /**< sixteen 2-bit values */
  QPU_VALUE_REGISTER,
  QPU_VALUE_SEMAPHORE, /**< `integer` is the number, plus 16 to acquire */
  QPU_VALUE_LABEL      /**< `integer` is the byte address */
};

struct qpu_value {
  enum qpu_value_type type;
  int64_t integer;
  double real;
  uint32_t elements; /**< as a load-immediate word holds them */
  int is_signed;     /**< of the elements */
  struct qpu_register_name reg;
  uint8_t rotate; /**< lanes upward, QPU_ROTATE_R5 for r5; 0 for none */
  char suffix[8]; /**< "16a" of ra3.16a; "" for none */
};

enum qpu_symbol_kind { QPU_SYMBOL_VALUE, QPU_SYMBOL_EXPRESSION, QPU_SYMBOL_FUNCTION, QPU_SYMBOL_MACRO };

struct qpu_symbol {
  char name[QPU_NAME_MAX];
  enum qpu_symbol_kind kind;
  int depth; /**< of the scope that it belongs to */
  int constant;
  struct qpu_value value;
  char args[QPU_MAX_ARGS][QPU_NAME_MAX];
  int n_args;
  const char *text;  /**< of an expression with arguments */
  size_t first, end; /**< lines of a function's or macro's body */
};

struct qpu_symbols {
  struct qpu_symbol *items;
  size_t n, capacity;
  int depth;
};

/** \brief The newest symbol of that name, or NULL. */
struct qpu_symbol *qpu_symbol_find(struct qpu_symbols *symbols, const char *name);
/** \brief Adds a symbol to the scope of \a depth. STATUS_ENVIRONMENT when memory ran out. */
status_t qpu_symbol_add(struct qpu_symbols *symbols, const char *name, int depth, struct qpu_symbol **symbol);
/** \brief Leaves the innermost scope and forgets its symbols. */
void qpu_symbols_leave(struct qpu_symbols *symbols);

/** \brief Evaluates the expression at *text and moves *text behind it. */
status_t qpu_expr_parse(struct qpu_asm *as, const char **text, struct qpu_value *value);
/** \brief The same, and nothing may follow. */
status_t qpu_expr_whole(struct qpu_asm *as, const char *text, struct qpu_value *value);

/** \brief The 32 bits that a constant loads: integers from −2³¹ to 2³²−1, floats as single
 * precision. */
status_t qpu_value_bits(struct qpu_asm *as, const struct qpu_value *value, uint32_t *bits);
/** \brief A constant as an integer (floats must be whole); as a condition. */
status_t qpu_value_integer(struct qpu_asm *as, const struct qpu_value *value, int64_t *integer);
status_t qpu_value_true(struct qpu_asm *as, const struct qpu_value *value, int *truth);

struct qpu_value qpu_value_int(int64_t integer);
struct qpu_value qpu_value_float(double real);
int qpu_value_is_number(const struct qpu_value *value);
/** \brief A number as a double. */
double qpu_value_real(const struct qpu_value *value);

/** \brief Copies the identifier at *text (letters, digits, underscores) and moves behind it; 0 when
 * there is none. */
int qpu_identifier(const char **text, char name[QPU_NAME_MAX]);
const char *qpu_skip_space(const char *text);

#endif
