/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The vertex pipe memory: 64 rows of 16 words that all QPUs share. It holds vectors of
 * 32-bit elements, along rows or down columns, and blocks. DMA transfers blocks from and to memory,
 * one load and one store per QPU at a time. Source: reference guide, section 7, tables 32 to 37.
 * Others found that the store's stride and the load's pitch have 16 bits.
 *
 * A block's elements run along a row and continue in the next, or run down a column. A transfer
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

/** Set-up of vector reads or writes: the position of the next vector, and the stride to the
 * following one. */
struct qpu_vpm_access {
  int horizontal, stride, address; /**< stride: 1 to 64 */
  int left;                        /**< number of vectors still to be read */
};

/** \brief Decodes the set-up word that a program writes. `left` is field NUM of the word, which
 * only set-ups of reads have. */
struct qpu_vpm_access qpu_vpm_access_of(uint32_t setup);

/** \brief Transfer one vector and advance \a access to the next. */
void qpu_vpm_read(struct qpu_vpm *vpm, struct qpu_vpm_access *access, qpu_vec *out);
void qpu_vpm_write(struct qpu_vpm *vpm, struct qpu_vpm_access *access, const qpu_vec *in);

/** DMA set-up and the current transfer. */
struct qpu_dma {
  uint32_t setup; /**< basic set-up word that the program wrote */
  /** second set-up word: has MPITCHB for loads, STRIDE and BLOCKMODE for stores */
  uint32_t stride;
  int busy;
  uint64_t done_at; /**< cycle on which the transfer ends */
  uint32_t active_setup, active_stride, address, pc;
};

/** \brief Returns the number of rows of a set-up's block, which determines the transfer's time. */
int qpu_dma_rows(uint32_t setup, int store);
/** \brief Returns the bytes per row of a set-up's block. */
int qpu_dma_row_bytes(uint32_t setup, int store);

/** \brief Returns 1 if a store has BLOCKMODE set and documents disagree on where its rows go. */
int qpu_dma_block_differs(const struct qpu_dma *store);

/** \brief Execute the load or store that was started. Return NULL, or why it is invalid. */
const char *qpu_dma_load(const struct qpu_dma *dma, const struct qpu_memory *memory, struct qpu_vpm *vpm);
const char *qpu_dma_store(const struct qpu_dma *dma, const struct qpu_memory *memory, struct qpu_vpm *vpm);

#endif
