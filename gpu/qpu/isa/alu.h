/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The operations of the QPU's two ALUs, 16 lanes at a time.
 *
 * Denormal floats are zero, as operands and results; results round toward zero; an exponent of 255
 * is infinity for every mantissa; a magnitude from 2¹²⁸ on becomes infinity, infinities of
 * opposite sign add up to −infinity (both measured by others). The host's rounding mode
 * must be toward zero around calls: qpu_alu_enter. Integers wrap; shifts count modulo 32; mul24
 * multiplies the low 24 bits of each operand. */
#ifndef QPU_ALU_H
#define QPU_ALU_H

#include <stdint.h>

#include "base/status.h"
#include "gpu/qpu/isa/isa.h"

typedef uint32_t qpu_vec __attribute__((vector_size(4 * QPU_LANES)));

/** Saved mode of the host's arithmetic. */
struct qpu_alu_mode {
  int rounding;
  unsigned control; /**< x86's MXCSR */
};

/** \brief Sets the host to round toward zero, and to treat denormals as zero where it can; *mode is
 * for qpu_alu_leave. STATUS_ENVIRONMENT when this host cannot round so. */
status_t qpu_alu_enter(struct qpu_alu_mode *mode);
void qpu_alu_leave(const struct qpu_alu_mode *mode);

/** One operation: *out = f(*a, *b). The outputs may be the inputs. */
typedef void (*qpu_alu_function)(qpu_vec *out, const qpu_vec *a, const qpu_vec *b);

/** \brief By operation code; NULL for nop and where the code is reserved. */
extern const qpu_alu_function qpu_alu_add[32];
extern const qpu_alu_function qpu_alu_mul[8];

#endif
