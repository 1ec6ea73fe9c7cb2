/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The vertex pipe memory: 64 rows of 16 words that all QPUs share. It holds vectors of
 * 32-bit elements, along rows or down columns, and blocks that DMA moves from and to memory, one
 * load and one store per QPU. Source: reference guide, section 7, tables 32 to 37; the store's
 * stride and the load's pitch have 16 bits, as others found.
 *
 * A block's elements run along a row, from its end on into the next, or down a column. A transfer
 * beyond the VPM's 64 rows is an error, as are elements of 8 and 16 bits. */
#ifndef QPU_VPM_H
#define QPU_VPM_H

#include <stdint.h>

#include "gpu/qpu/emulator/memory.h"
#include "gpu/qpu/isa/alu.h"

#define QPU_VPM_ROWS 64

struct qpu_vpm {
  uint32_t words[QPU_VPM_ROWS][QPU_LANES];
};

/** One side's set-up of vector accesses: where the next vector lies and how far on the one after
 * it. */
struct qpu_vpm_access {
  int horizontal, stride, address; /**< stride: 1 to 64 */
  int left;                        /**< vectors still to be read */
};

/** \brief Set-up from the word that a program writes; `left` is filled from the read side's NUM. */
struct qpu_vpm_access qpu_vpm_access_of(uint32_t setup);

/** \brief Moves one vector and goes on to the next. */
void qpu_vpm_read(struct qpu_vpm *vpm, struct qpu_vpm_access *access, qpu_vec *out);
void qpu_vpm_write(struct qpu_vpm *vpm, struct qpu_vpm_access *access, const qpu_vec *in);

/** DMA set-up and the transfer in progress. */
struct qpu_dma {
  uint32_t setup;  /**< basic set-up word */
  uint32_t stride; /**< MPITCHB of loads; STRIDE and BLOCKMODE of stores */
  int busy;
  uint64_t done_at; /**< cycle on which it ends */
  uint32_t active_setup, active_stride, address, pc;
};

/** \brief Rows of the block that a set-up describes: transfers take longer the more there are. */
int qpu_dma_rows(uint32_t setup, int store);
/** \brief Bytes of one of them. */
int qpu_dma_row_bytes(uint32_t setup, int store);

/** \brief Whether a store would take other bytes if BLOCKMODE meant that rows follow each other
 * without a gap. */
int qpu_dma_block_differs(const struct qpu_dma *store);

/** \brief Does the transfer that was started. Returns NULL, or why it cannot be. */
const char *qpu_dma_load(const struct qpu_dma *dma, const struct qpu_memory *memory, struct qpu_vpm *vpm);
const char *qpu_dma_store(const struct qpu_dma *dma, const struct qpu_memory *memory, struct qpu_vpm *vpm);

#endif
