/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The emulated bus memory: allocations with gaps between them, and accesses that must stay
 * inside one. */
#ifndef QPU_MEMORY_H
#define QPU_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/** An allocation: offsets of its first byte and of the first page after it. */
struct qpu_region {
  uint32_t begin, end;
};

struct qpu_memory {
  uint8_t *bytes;             /**< as the host sees them */
  uint8_t *allowed;           /**< a bit for each 32-bit word that is part of an allocation */
  uint32_t base;              /**< bus address of the first byte */
  uint32_t size;              /**< a multiple of 4096 */
  uint32_t fresh;             /**< offset from which on nothing was ever allocated: still zero */
  struct qpu_region *regions; /**< the allocations, by offset */
  size_t n_regions, capacity;
};

/** \brief Memory of at least \a bytes from bus address \a base on. */
status_t qpu_memory_create(struct qpu_memory *memory, size_t bytes, uint32_t base);
void qpu_memory_destroy(struct qpu_memory *memory);

/** \brief Sets *address to \a bytes of zeroed memory, aligned to 4096; whatever lies between
 * allocations cannot be touched. STATUS_ENVIRONMENT when there is not enough left. */
status_t qpu_memory_alloc(struct qpu_memory *memory, size_t bytes, uint32_t *address);
/** \brief Takes back the allocation that begins at \a address. */
void qpu_memory_free(struct qpu_memory *memory, uint32_t address);
/** \brief Bytes that are neither allocated nor keep allocations apart. */
size_t qpu_memory_left(const struct qpu_memory *memory);

/** \brief Whether all of \a bytes from \a address on lie in allocations. */
int qpu_memory_ok(const struct qpu_memory *memory, uint32_t address, uint32_t bytes);

/** \brief The host's pointer to an address within the memory. */
static inline void *qpu_memory_at(const struct qpu_memory *memory, uint32_t address)
{
  return memory->bytes + (address - memory->base);
}

/** \brief Whether the word at an aligned address can be accessed. */
static inline int qpu_memory_word_ok(const struct qpu_memory *memory, uint32_t address)
{
  uint32_t offset = address - memory->base;
  return offset < memory->size && (memory->allowed[offset >> 5] >> (offset >> 2 & 7) & 1);
}

#endif
