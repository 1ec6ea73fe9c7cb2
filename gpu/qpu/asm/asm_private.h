/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The assembler's state, shared by its source files. */
#ifndef QPU_ASM_PRIVATE_H
#define QPU_ASM_PRIVATE_H

#include "gpu/qpu/asm/asm.h"
#include "gpu/qpu/asm/expr.h"

struct qpu_line {
  const char *file;
  int number;
  char *text;
};

struct qpu_label {
  char name[QPU_NAME_MAX]; /**< numeric labels keep their digits and may repeat */
  uint32_t address;
  int exported;
};

struct qpu_asm {
  const struct qpu_asm_options *options;
  struct qpu_line *lines;
  size_t n_lines, lines_capacity;
  char **files;
  size_t n_files;
  struct qpu_symbols symbols;
  /* Labels of the pass before, which references see, and of this pass, which must come out
   * alike. */
  struct qpu_label *known, *labels;
  size_t n_known, n_labels, labels_capacity;
  int pass;
  uint64_t *words;
  struct qpu_origin *origins;
  uint8_t *data;
  size_t n_words, words_capacity;
  struct qpu_origin at;     /**< what messages name */
  int nesting;              /**< macros, functions and includes within each other */
  long steps;               /**< lines run in this pass */
  struct qpu_value *result; /**< where a function's expression goes; NULL outside functions */
  int has_result;
  int quiet; /**< mistakes are not logged: the disassembler tries a text out */
};

/** \brief Logs "file:line: …" and returns STATUS_USAGE. */
status_t qpu_asm_fail(struct qpu_asm *as, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** \brief Runs lines[first] to lines[end − 1]: labels, directives, macros, instructions. */
status_t qpu_asm_run(struct qpu_asm *as, size_t first, size_t end);

/** \brief Runs the directive that \a text starts with; *i, its line, moves to the last one that
 * belongs to it. */
status_t qpu_asm_directive(struct qpu_asm *as, const char *text, size_t *i, size_t end);

/** \brief Does what .set and its like do: "name, expression" or "name(arguments) expression". */
status_t qpu_asm_define(struct qpu_asm *as, const char *text, int constant, int local);

/** \brief Opens and closes a scope for symbols. */
status_t qpu_asm_enter(struct qpu_asm *as);
void qpu_asm_leave(struct qpu_asm *as);

/** \brief Encodes one line of operations, without label and comment, as one word. */
status_t qpu_encode_line(struct qpu_asm *as, const char *text, uint64_t *word);

/** \brief A label's address as the pass before knows it (0 in the first pass). */
status_t qpu_label_find(struct qpu_asm *as, const char *name, struct qpu_value *value);

/** \brief Calls a function symbol. */
status_t qpu_function_call(struct qpu_asm *as, const struct qpu_symbol *function,
                           const struct qpu_value *args, int n_args, struct qpu_value *value);

#endif
