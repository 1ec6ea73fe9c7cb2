/* SPDX-License-Identifier: MIT */
/** \file
 * \brief From the operations of a line to an instruction word. */
#ifndef QPU_ENCODE_H
#define QPU_ENCODE_H

#include "gpu/qpu/asm/state.h"

/** \brief Encodes one line of operations, without label and comment, as one word. */
status_t qpu_encode_line(struct qpu_asm *as, const char *text, uint64_t *word);

#endif
