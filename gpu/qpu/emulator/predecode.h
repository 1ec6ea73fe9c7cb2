/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Instructions are decoded once per address before they are run. */
#ifndef QPU_PREDECODE_H
#define QPU_PREDECODE_H

#include "gpu/qpu/emulator/state.h"

void qpu_predecode(uint64_t word, struct qpu_decoded *decoded);

/** \brief Decodes the instruction at an address. Returns NULL if the address is not allocated, is
 * no multiple of 8, or if memory ran out. */
struct qpu_decoded *qpu_fetch_new(struct qpu_emu *emu, uint32_t address);

/** \brief Returns the decoded instruction at an address, or NULL like qpu_fetch_new. */
static inline struct qpu_decoded *qpu_fetch(struct qpu_emu *emu, uint32_t address)
{
  uint32_t offset = address - emu->memory.base;
  if (offset < emu->memory.size && offset % 8 == 0 && emu->pages[offset / (QPU_PAGE_WORDS * 8)]) {
    struct qpu_decoded *d = &emu->pages[offset / (QPU_PAGE_WORDS * 8)][offset / 8 % QPU_PAGE_WORDS];
    if (d->valid) return d;
  }
  return qpu_fetch_new(emu, address);
}

#endif
