/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The special function unit: 1/x, 1/√|x|, 2^x, log₂|x|.
 *
 * The part approximates; how well is not published, so results here are exact to single precision,
 * rounded toward zero. 0 gives infinity for the first two and −infinity for the last, as others
 * measured. */
#ifndef QPU_SFU_H
#define QPU_SFU_H

#include "gpu/qpu/isa/alu.h"

/** \brief Applies the function of a register address from QPU_W_SFU_RECIP to QPU_W_SFU_LOG. */
void qpu_sfu(qpu_vec *out, const qpu_vec *in, int address);

#endif
