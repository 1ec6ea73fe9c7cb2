/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/qpu_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define PAGE 4096u

status_t qpu_memory_create(struct qpu_memory *memory, size_t bytes, uint32_t base)
{
  struct qpu_memory made = {.base = base, .next = PAGE};
  if (bytes > UINT32_MAX - base - 2 * PAGE)
    return log_fail(STATUS_ENVIRONMENT, "the QPU's 32-bit addresses do not reach %zu bytes", bytes);
  made.size = ((uint32_t)bytes + 2 * PAGE - 1) & ~(PAGE - 1);
  made.bytes = calloc(made.size, 1);
  made.allowed = calloc(made.size / 32, 1);
  if (!made.bytes || !made.allowed) {
    qpu_memory_destroy(&made);
    return log_fail(STATUS_ENVIRONMENT, "out of memory for %zu bytes of emulated QPU memory", bytes);
  }
  *memory = made;
  return STATUS_OK;
}

void qpu_memory_destroy(struct qpu_memory *memory)
{
  free(memory->bytes);
  free(memory->allowed);
  *memory = (struct qpu_memory){0};
}

status_t qpu_memory_alloc(struct qpu_memory *memory, size_t bytes, uint32_t *address)
{
  size_t left = memory->size - memory->next;
  if (bytes == 0 || bytes > left)
    return log_fail(STATUS_ENVIRONMENT, "%zu bytes of emulated QPU memory are needed and %zu are left", bytes,
                    left);
  uint32_t begin = memory->next, words = (uint32_t)((bytes + 3) / 4);
  for (uint32_t w = begin / 4; w < begin / 4 + words; w++) memory->allowed[w >> 3] |= (uint8_t)(1 << (w & 7));
  memset(memory->bytes + begin, 0, bytes);
  uint32_t end = begin + words * 4;
  end = (end / PAGE + 1) * PAGE; /* at least one byte stays free behind it */
  memory->next = end < memory->size ? end : memory->size;
  *address = memory->base + begin;
  return STATUS_OK;
}

void qpu_memory_reset(struct qpu_memory *memory)
{
  memset(memory->allowed, 0, memory->size / 32);
  memory->next = PAGE;
}

int qpu_memory_ok(const struct qpu_memory *memory, uint32_t address, uint32_t bytes)
{
  uint32_t offset = address - memory->base;
  if (offset >= memory->size || bytes > memory->size - offset) return 0;
  for (uint32_t at = offset & ~3u; at < offset + bytes; at += 4)
    if (!qpu_memory_word_ok(memory, memory->base + at)) return 0;
  return 1;
}
