/* SPDX-License-Identifier: MIT */
/** \file
 * \brief DMA between memory and VPM, one load and one store a QPU. Source: reference guide, section
 * 7, tables 34 to 37; the store's stride has 16 bits, as vc4asm's author found.
 *
 * Elements lie side by side in the VPM: along a row, from its end on into the next, or down a
 * column. For loads of 8 and 16-bit elements MODEW chooses, like the QPU's own accesses, which part
 * of the row the block starts in, and VPITCH counts in such parts; for stores it is the offset in
 * the first word. Where a block would leave the VPM's 64 rows the transfer is an error. */
#ifndef QPU_DMA_H
#define QPU_DMA_H

#include <stdint.h>

#include "gpu/qpu/emulator/memory.h"
#include "gpu/qpu/emulator/vpm.h"

/** What a program has set up and what is on its way. */
struct qpu_dma {
  uint32_t setup;  /**< basic set-up word */
  uint32_t stride; /**< MPITCHB of loads; STRIDE and BLOCKMODE of stores */
  int busy;
  uint64_t done_at; /**< turn on which it ends */
  uint32_t active_setup, active_stride, address, pc;
};

/** \brief Rows of the block that a set-up describes: transfers take longer the more there are. */
int qpu_dma_load_rows(uint32_t setup);
int qpu_dma_store_rows(uint32_t setup);

/** \brief Does the transfer that was started. Returns NULL, or why it cannot be. */
const char *qpu_dma_load(const struct qpu_dma *dma, const struct qpu_memory *memory, struct qpu_vpm *vpm);
const char *qpu_dma_store(const struct qpu_dma *dma, const struct qpu_memory *memory, struct qpu_vpm *vpm);

#endif
