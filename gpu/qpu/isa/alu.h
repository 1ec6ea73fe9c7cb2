/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The operations of the QPU's two ALUs, 16 lanes at a time.
 *
 * Denormal floats count as zero, as operands and results. Results round toward zero. An exponent of
 * 255 is infinity for every mantissa. A magnitude from 2¹²⁸ on becomes infinity, and infinities of
 * opposite sign add up to −infinity (both measured by others). The host's rounding mode must be
 * toward zero around calls: see qpu_alu_enter. Integers wrap; shifts count modulo 32; mul24
 * multiplies the low 24 bits of each operand. */
#ifndef QPU_ALU_H
#define QPU_ALU_H

#include <stdint.h>

#include "base/status.h"
#include "gpu/qpu/isa/isa.h"

typedef uint32_t qpu_vec __attribute__((vector_size(4 * QPU_LANES)));

/** The saved rounding and denormal mode of the host's arithmetic. */
struct qpu_alu_mode {
  int rounding;
  unsigned control; /**< register MXCSR of x86 */
};

/** \brief Makes the host round toward zero, and treat denormals as zero if it can. Pass *mode to
 * qpu_alu_leave. Returns STATUS_ENVIRONMENT if this host cannot round toward zero. */
status_t qpu_alu_enter(struct qpu_alu_mode *mode);
void qpu_alu_leave(const struct qpu_alu_mode *mode);

/** One operation: *out = f(*a, *b). Outputs may alias inputs. */
typedef void (*qpu_alu_function)(qpu_vec *out, const qpu_vec *a, const qpu_vec *b);

/** \brief Functions by operation code; NULL for nop and reserved codes. */
extern const qpu_alu_function qpu_alu_add[32];
extern const qpu_alu_function qpu_alu_mul[8];

#endif
