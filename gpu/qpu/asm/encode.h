/* SPDX-License-Identifier: MIT */
/** \file
 * \brief From the operations of a line to an instruction word. */
#ifndef QPU_ENCODE_H
#define QPU_ENCODE_H

#include "gpu/qpu/asm/operation.h"

/** \brief Encodes the operations of one instruction. */
status_t qpu_encode_operations(struct qpu_asm *as, const struct qpu_operation *operations, int n,
                               uint64_t *word);

#endif
