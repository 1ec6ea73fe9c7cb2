/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The assembler's input and output: lines, labels, emitted words. */
#ifndef QPU_SOURCE_H
#define QPU_SOURCE_H

#include "gpu/qpu/asm/asm_private.h"

/** \brief Appends a text's lines, without comments; they are lines[*first] to lines[*end − 1]. */
status_t qpu_source_text(struct qpu_asm *as, const char *text, const char *name, size_t *first, size_t *end);
status_t qpu_source_file(struct qpu_asm *as, const char *path, size_t *first, size_t *end);

status_t qpu_label_define(struct qpu_asm *as, const char *name, int exported);

/** \brief Appends a word with where it came from. */
status_t qpu_emit(struct qpu_asm *as, uint64_t word, int is_data);

#endif
