/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The vertex pipe memory: 64 rows of 16 words that all QPUs share, and vectors of 8, 16 or
 * 32-bit elements in it, along rows or down columns. Source: reference guide, section 7, tables 32
 * and 33.
 *
 * Reading 8 and 16-bit elements extends them with zeros. */
#ifndef QPU_VPM_H
#define QPU_VPM_H

#include <stdint.h>

#include "gpu/qpu/isa/alu.h"

#define QPU_VPM_ROWS  64
#define QPU_VPM_BYTES (QPU_VPM_ROWS * 64)

struct qpu_vpm {
  uint8_t bytes[QPU_VPM_BYTES]; /**< row after row */
};

/** One side's set-up of vector accesses: where the next vector lies and how far on the one after
 * it. */
struct qpu_vpm_access {
  uint8_t size;  /**< 0, 1, 2: 8, 16, 32 bits */
  uint8_t laned; /**< one element in each word, instead of side by side */
  uint8_t horizontal;
  uint8_t stride; /**< 1 to 64 */
  uint8_t address;
  int left; /**< vectors still to be read */
};

/** \brief Set-up from the word that a program writes; `left` is filled from the read side's NUM. */
struct qpu_vpm_access qpu_vpm_access_of(uint32_t setup);

/** \brief Moves one vector and goes on to the next. */
void qpu_vpm_read(const struct qpu_vpm *vpm, struct qpu_vpm_access *access, qpu_vec *out);
void qpu_vpm_write(struct qpu_vpm *vpm, struct qpu_vpm_access *access, const qpu_vec *in);

#endif
