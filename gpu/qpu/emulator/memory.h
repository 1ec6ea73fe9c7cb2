/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The emulated bus memory: allocations separated by gaps, and checks that accesses stay
 * inside an allocation. */
#ifndef QPU_MEMORY_H
#define QPU_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/** An allocation: offsets of its first byte and of the end of its last page. */
struct qpu_region {
  uint32_t begin, end;
};

struct qpu_memory {
  uint8_t *bytes;   /**< contents, as the host sees them */
  uint8_t *allowed; /**< one bit per 32-bit word: 1 if it is part of an allocation */
  uint32_t base;    /**< bus address of the first byte */
  uint32_t size;    /**< size in bytes, a multiple of 4096 */
  /** offset from which on memory was never allocated, so that it is zero */
  uint32_t fresh;
  struct qpu_region *regions; /**< the allocations, ordered by offset */
  size_t n_regions, capacity;
};

/** \brief Creates memory of at least \a bytes bytes at bus address \a base. */
status_t qpu_memory_create(struct qpu_memory *memory, size_t bytes, uint32_t base);
void qpu_memory_destroy(struct qpu_memory *memory);

/** \brief Allocates \a bytes bytes of zeroed memory, and sets *address to its bus address, a
 * multiple of 4096. Programs cannot access the gaps between allocations. Returns STATUS_ENVIRONMENT
 * if too little is left. */
status_t qpu_memory_alloc(struct qpu_memory *memory, size_t bytes, uint32_t *address);
void qpu_memory_free(struct qpu_memory *memory, uint32_t address);
/** \brief Returns the number of bytes outside allocations and the gaps between them. */
size_t qpu_memory_left(const struct qpu_memory *memory);

/** \brief Returns 1 if all of \a bytes bytes from \a address on are allocated. */
int qpu_memory_ok(const struct qpu_memory *memory, uint32_t address, uint32_t bytes);

/** \brief Returns the host's pointer to an address within the memory. */
static inline void *qpu_memory_at(const struct qpu_memory *memory, uint32_t address)
{
  return memory->bytes + (address - memory->base);
}

/** \brief Returns 1 if the word at an aligned address can be accessed. */
static inline int qpu_memory_word_ok(const struct qpu_memory *memory, uint32_t address)
{
  uint32_t offset = address - memory->base;
  return offset < memory->size && (memory->allowed[offset >> 5] >> (offset >> 2 & 7) & 1);
}

#endif
