/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The text of an instruction, for messages and traces. */
#ifndef QPU_DESCRIBE_H
#define QPU_DESCRIBE_H

#include <stdint.h>

#define QPU_TEXT_MAX 256

/** \brief Writes an instruction in the assembler's syntax. It need not assemble into the same word:
 * register names omit the file if either file has the register. */
void qpu_describe(uint64_t word, char text[QPU_TEXT_MAX]);

#endif
