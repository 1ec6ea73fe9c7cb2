/* SPDX-License-Identifier: MIT */
/** \file
 * \brief From a line with the operations of one instruction to its word. */
#ifndef QPU_ENCODE_H
#define QPU_ENCODE_H

#include "gpu/qpu/asm/state.h"

status_t qpu_encode_line(struct qpu_asm *as, const char *text, uint64_t *word);

#endif
