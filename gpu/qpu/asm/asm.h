/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Macro assembler for the VideoCore IV QPU, used at build time and in tests.
 *
 * The syntax is a subset of the syntax of vc4asm (described in doc/explanation/qpu.md): one
 * instruction per line, the operations of the add and the mul ALU and a signal separated by `;`,
 * labels `:name`, the directives `.set .macro .rep .if .include .int`. An instruction with a hazard
 * of the reference guide is an error, reported with line and rule. */
#ifndef QPU_ASM_H
#define QPU_ASM_H

#include "gpu/qpu/asm/program.h"

/** \brief Assembles the file \a path or, if \a text is not NULL, that text, which messages call \a
 * path. Returns STATUS_USAGE, with file, line and cause, for an error in the program, and
 * STATUS_ENVIRONMENT if a file cannot be read or memory ran out. \a unchecked permits hazards. */
status_t qpu_assemble(const char *path, const char *text, int unchecked, struct qpu_program *program);

#endif
