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

#include "gpu/qpu/asm/program.h"

struct qpu_asm_options {
  int unchecked;              /**< 1: hazards are let through, for programs made elsewhere */
  const char *const *defines; /**< "NAME=expression", or "NAME" for 1; may be NULL */
  size_t n_defines;
  const char *const *include_folders; /**< where .include looks besides the file's own folder */
  size_t n_include_folders;
};

/** \brief Assembles the file \a path, or the \a text (NULL for none) that is named so. STATUS_USAGE
 * with file, line and cause for a mistake in the program, STATUS_ENVIRONMENT when a file cannot be
 * read or memory ran out. \a options may be NULL. */
status_t qpu_assemble(const char *path, const char *text, const struct qpu_asm_options *options,
                      struct qpu_program *program);

#endif
