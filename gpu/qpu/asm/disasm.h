/* SPDX-License-Identifier: MIT */
/** \file
 * \brief From instruction words back to the text that asm.h assembles into the same words. */
#ifndef QPU_DISASM_H
#define QPU_DISASM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

#define QPU_TEXT_MAX 256

/** \brief One instruction as text, without label. \a label names a relative branch's target, NULL
 * for its offset. A word that no text stands for (reserved codes, fields set where they mean
 * nothing) becomes `.int` with what it would do as a comment; returns 1 then, else 0. */
int qpu_disassemble(uint64_t word, const char *label, char text[QPU_TEXT_MAX]);

/** \brief What an instruction does, for reading only: it need not assemble into the same word. With
 * \a pinned registers name their file even where either would do. */
void qpu_describe(uint64_t word, const char *label, int pinned, char text[QPU_TEXT_MAX]);

/** \brief A whole program with labels at the targets of its relative branches. */
status_t qpu_disassemble_program(const uint64_t *words, size_t n_words, FILE *out);

#endif
