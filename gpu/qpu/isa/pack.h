/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Conversions on the way into and out of the ALUs. Source: reference guide, tables 6 to 9,
 * with the errata that py-videocore lists.
 *
 * Half floats have no denormals and are made by truncation, and what is too small for one becomes
 * +0; bytes stand for 0 to 1 in steps of 1/255 where a float is wanted. Where the guide says
 * nothing these are choices. */
#ifndef QPU_PACK_H
#define QPU_PACK_H

#include "gpu/qpu/isa/alu.h"

/** \brief Unpacks lanes in one of the eight modes; \a as_float for operations on floats (r4:
 * always). */
void qpu_unpack(qpu_vec *out, const qpu_vec *in, int mode, int as_float);

/** \brief Packs a result for register file A in one of the sixteen modes. *out holds the register's
 * old value, of which some modes keep parts. Mode 8 (saturate 32 bits) is qpu_saturate's and must
 * be done before. */
void qpu_pack(qpu_vec *out, const qpu_vec *result, int mode, int as_float);

/** \brief The mul ALU's own packing of floats from 0 to 1 into bytes: modes 3 to 7. */
void qpu_pack_mul(qpu_vec *out, const qpu_vec *result, int mode);

/** \brief The result of add or sub, saturated to signed 32 bits. */
void qpu_saturate(qpu_vec *out, int op, const qpu_vec *a, const qpu_vec *b);

#endif
