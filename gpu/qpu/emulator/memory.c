/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/emulator/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define PAGE 4096u

status_t qpu_memory_create(struct qpu_memory *memory, size_t bytes, uint32_t base)
{
  struct qpu_memory made = {.base = base, .fresh = PAGE};
  if (bytes >= UINT32_MAX - base - 2 * PAGE)
    return log_fail(STATUS_ENVIRONMENT, "the QPU's 32-bit addresses do not reach %zu bytes", bytes);
  made.size = ((uint32_t)bytes + 2 * PAGE - 1) & ~(PAGE - 1);
  made.bytes = calloc(made.size, 1);
  made.allowed = calloc(made.size / 32, 1);
  if (!made.bytes || !made.allowed) {
    qpu_memory_destroy(&made);
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for %zu bytes of emulated QPU memory", bytes);
  }
  *memory = made;
  return STATUS_OK;
}

void qpu_memory_destroy(struct qpu_memory *memory)
{
  free(memory->bytes);
  free(memory->allowed);
  free(memory->regions);
  *memory = (struct qpu_memory){0};
}

/* Marks an allocation as accessible. The allocation begins at a page, so all but its last words
 * fill whole bytes of the map. */
static void allow(struct qpu_memory *memory, uint32_t begin, size_t bytes)
{
  uint32_t first = begin / 4, words = (uint32_t)((bytes + 3) / 4);
  memset(memory->allowed + first / 8, 0xff, words / 8);
  if (words % 8) memory->allowed[(first + words) / 8] = (uint8_t)((1 << words % 8) - 1);
}

static void forbid(struct qpu_memory *memory, const struct qpu_region *region)
{
  memset(memory->allowed + region->begin / 32, 0, (region->end - region->begin) / 32);
}

/* Finds the first gap of \a spacing bytes between allocations, or of \a bytes bytes after the last
 * one. Sets *begin to the gap's offset, and *number to the index of the region after it. Returns 0
 * if there is no such gap. */
static int find_gap(const struct qpu_memory *memory, uint32_t bytes, uint32_t spacing, uint32_t *begin,
                    size_t *number)
{
  uint32_t at = PAGE;
  for (size_t n = 0; n <= memory->n_regions; n++) {
    int last = n == memory->n_regions;
    uint32_t end = last ? memory->size : memory->regions[n].begin;
    if (end - at >= (last ? bytes : spacing)) {
      *begin = at;
      *number = n;
      return 1;
    }
    if (!last) at = memory->regions[n].end;
  }
  return 0;
}

static int regions_grow(struct qpu_memory *memory)
{
  if (memory->n_regions < memory->capacity) return 1;
  size_t capacity = memory->capacity ? 2 * memory->capacity : 64;
  struct qpu_region *regions = realloc(memory->regions, capacity * sizeof *regions);
  if (!regions) return 0;
  memory->regions = regions;
  memory->capacity = capacity;
  return 1;
}

status_t qpu_memory_alloc(struct qpu_memory *memory, size_t bytes, uint32_t *address)
{
  /* Reserve at least one byte between this allocation and the next. */
  uint32_t begin, spacing = (uint32_t)((bytes / PAGE + 1) * PAGE);
  size_t number;
  if (bytes == 0 || bytes > memory->size || !find_gap(memory, (uint32_t)bytes, spacing, &begin, &number))
    return log_fail(STATUS_ENVIRONMENT, "%zu bytes of emulated QPU memory are needed and %zu are left", bytes,
                    qpu_memory_left(memory));
  if (!regions_grow(memory))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the list of allocations");
  uint32_t end = memory->size - begin < spacing ? memory->size : begin + spacing;
  struct qpu_region *place = memory->regions + number;
  memmove(place + 1, place, (memory->n_regions++ - number) * sizeof *place);
  *place = (struct qpu_region){begin, end};
  allow(memory, begin, bytes);
  if (begin < memory->fresh)
    memset(memory->bytes + begin, 0, (end < memory->fresh ? end : memory->fresh) - begin);
  if (end > memory->fresh) memory->fresh = end;
  *address = memory->base + begin;
  return STATUS_OK;
}

void qpu_memory_free(struct qpu_memory *memory, uint32_t address)
{
  for (size_t n = 0; n < memory->n_regions; n++) {
    struct qpu_region *region = &memory->regions[n];
    if (memory->base + region->begin != address) continue;
    forbid(memory, region);
    memmove(region, region + 1, (--memory->n_regions - n) * sizeof *region);
    return;
  }
}

size_t qpu_memory_left(const struct qpu_memory *memory)
{
  size_t left = memory->size - PAGE;
  for (size_t n = 0; n < memory->n_regions; n++) left -= memory->regions[n].end - memory->regions[n].begin;
  return left;
}

int qpu_memory_ok(const struct qpu_memory *memory, uint32_t address, uint32_t bytes)
{
  const uint32_t words = (address % 4 + bytes + 3) / 4;
  for (uint32_t word = 0; word < words; word++)
    if (!qpu_memory_word_ok(memory, (address & ~3u) + 4 * word)) return 0;
  return 1;
}
