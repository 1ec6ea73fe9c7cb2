/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Macro assembler for the VideoCore IV QPU, at build time and in tests.
 *
 * The syntax is vc4asm's as far as it goes (doc/qpu.md says how far): one instruction a line, the
 * add ALU's and the mul ALU's operation and a signal separated by `;`, labels `:name`, `.set .const
 * .func .macro .rep .if .include .back .assert .int .float`. The hazards of the reference guide are
 * refused with line and rule. */
#ifndef QPU_ASM_H
#define QPU_ASM_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define QPU_NAME_MAX 64

struct qpu_origin {
  const char *file; /**< owned by the program */
  int line;
};

struct qpu_program_label {
  char name[QPU_NAME_MAX];
  uint32_t address; /**< bytes from the program's start */
  int exported;     /**< written `::name` */
};

struct qpu_program {
  uint64_t *words;
  size_t n_words;
  struct qpu_origin *origins; /**< of each word */
  /** of each word: 1 for `.int` and its like, which is never executed */
  uint8_t *data;
  struct qpu_program_label *labels;
  size_t n_labels;
  char **files;
  size_t n_files;
};

struct qpu_asm_options {
  int unchecked;              /**< 1: hazards are let through, for programs made elsewhere */
  const char *const *defines; /**< "NAME=expression", or "NAME" for 1; may be NULL */
  size_t n_defines;
  /** where .include looks besides the file's own folder; may be NULL */
  const char *include_folder;
};

/** \brief Assembles a file, or the text of one. STATUS_USAGE with file, line and cause for a
 * mistake in the program, STATUS_ENVIRONMENT when a file cannot be read or memory ran out. \a
 * options may be NULL. */
status_t qpu_assemble_file(const char *path, const struct qpu_asm_options *options,
                           struct qpu_program *program);
status_t qpu_assemble_text(const char *text, const char *name, const struct qpu_asm_options *options,
                           struct qpu_program *program);
void qpu_program_free(struct qpu_program *program);

#endif
