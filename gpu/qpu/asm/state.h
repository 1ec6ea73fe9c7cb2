/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The assembler's state: the lines that it reads, the symbols and labels that it knows, the
 * program that it makes. */
#ifndef QPU_STATE_H
#define QPU_STATE_H

#include "gpu/qpu/asm/asm.h"
#include "gpu/qpu/isa/isa.h"

#define QPU_MAX_ARGS  12
#define QPU_ROTATE_R5 16

enum qpu_value_type {
  QPU_VALUE_INT,
  QPU_VALUE_FLOAT,
  QPU_VALUE_ELEMENTS, /**< sixteen 2-bit values */
  QPU_VALUE_REGISTER,
  QPU_VALUE_RAW,       /**< a register as `:[number, kind]` counts it, in `integer` */
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
  uint8_t rotate;  /**< lanes upward, QPU_ROTATE_R5 for r5; 0 for none */
  char suffix[12]; /**< "16a" of ra3.16a; "" for none */
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

struct qpu_line {
  const char *file;
  int number;
  char *text;
};

struct qpu_asm {
  const struct qpu_asm_options *options;
  struct qpu_line *lines;
  size_t n_lines, lines_capacity;
  struct qpu_symbol *symbols;
  size_t n_symbols, symbols_capacity;
  /* Labels of the pass before, which references see; those of this pass, in the program, must come
   * out alike. Those that begin with a digit may repeat. */
  struct qpu_label *known;
  size_t n_known, labels_capacity;
  int pass;
  struct qpu_program program; /**< as far as it is made */
  size_t words_capacity;
  int data_bytes;       /**< that data fill of the last word; 0 where it is whole */
  size_t words_before;  /**< words of the pass before */
  struct qpu_origin at; /**< what messages name */
  int depth;            /**< of the innermost scope for symbols */
  int nesting;          /**< macros, functions, includes and expressions in each other */
  long lines_run;       /**< in this pass */
  /** where a function's expression goes; NULL outside functions */
  struct qpu_value *result;
  int has_result;
  struct qpu_recent *recent; /**< the last instructions, which lines may join */
  size_t last_label;         /**< the word that the last label stands before */
  /** mistakes are not logged: this is an attempt */
  int quiet;
  /** Calls a function symbol, which may run lines; \a function stands outside of the table. */
  status_t (*call)(struct qpu_asm *as, const struct qpu_symbol *function, const struct qpu_value *args,
                   int n_args, struct qpu_value *value);
};

/** \brief Logs "file:line: …" and returns STATUS_USAGE. */
status_t qpu_asm_fail(struct qpu_asm *as, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** \brief Frees everything but the program. */
void qpu_asm_free(struct qpu_asm *as);

/** \brief Appends a line without its comment, or a text's. */
status_t qpu_source_line(struct qpu_asm *as, const char *file, int number, const char *text, size_t length);
status_t qpu_source_text(struct qpu_asm *as, const char *text, size_t length, const char *name);
status_t qpu_source_file(struct qpu_asm *as, const char *path);

/** \brief Forgets the lines from the \a first on. */
void qpu_source_drop(struct qpu_asm *as, size_t first);

/** \brief The newest symbol of that name, or NULL. */
struct qpu_symbol *qpu_symbol_find(struct qpu_asm *as, const char *name);
/** \brief Adds a symbol to the scope of \a depth. STATUS_ENVIRONMENT when memory ran out. */
status_t qpu_symbol_add(struct qpu_asm *as, const char *name, int depth, struct qpu_symbol **symbol);

/** \brief Exports a label, defined already or not. */
status_t qpu_label_export(struct qpu_asm *as, const char *name);
status_t qpu_label_define(struct qpu_asm *as, const char *name, int exported);
/** \brief A label's address as the pass before knows it (0 in the first pass). */
status_t qpu_label_find(struct qpu_asm *as, const char *name, struct qpu_value *value);

/** \brief Appends a word with where it came from. */
status_t qpu_emit(struct qpu_asm *as, uint64_t word, int is_data);
/** \brief Appends data, the low byte first, behind the data before. */
status_t qpu_emit_bytes(struct qpu_asm *as, uint32_t bytes, int n);
/** \brief Pads data with zeros up to a multiple of 1, 2, 4 or 8 \a bytes. */
status_t qpu_align(struct qpu_asm *as, int64_t bytes);

#endif
