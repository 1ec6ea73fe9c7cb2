/* SPDX-License-Identifier: MIT */
/* Compares results of copies, reads and chases with the expected results. */
#include "tools/memory/state.h"

#include <inttypes.h>

#include "base/log.h"

int mem_contents_corrupt(struct mem_rig *rig)
{
  return ++rig->checks == rig->corrupt;
}

static status_t flip_bit(struct mem_rig *rig, struct gpu_mem mem, uint64_t at)
{
  uint32_t word;
  RETURN_IF_FAILED(gpu_read(rig->sampler.queue, &word, mem, at, sizeof word));
  word ^= 0x00010000u;
  RETURN_IF_FAILED(gpu_copy_in(rig->sampler.queue, mem, at, &word, sizeof word));
  return gpu_sync(rig->sampler.queue);
}

status_t mem_contents_check(struct mem_rig *rig, struct gpu_mem mem, uint64_t bytes, struct mem_check check,
                            const char *what)
{
  if (mem_contents_corrupt(rig)) RETURN_IF_FAILED(flip_bit(rig, mem, bytes / 8 * 4));
  RETURN_IF_FAILED(rig->ops->check(rig->exec, rig->sampler.queue, mem, bytes, &check));
  if (!check.wrong) return STATUS_OK;
  return log_fail(STATUS_WRONG, "%s: %" PRIu64 " of %" PRIu64 " words are wrong, the first is word %" PRIu64,
                  what, check.wrong, bytes / 4, check.first);
}

status_t mem_word_check(struct mem_rig *rig, struct gpu_mem word, uint32_t want, const char *what)
{
  uint32_t got;
  if (mem_contents_corrupt(rig)) RETURN_IF_FAILED(flip_bit(rig, word, 0));
  RETURN_IF_FAILED(gpu_read(rig->sampler.queue, &got, word, 0, sizeof got));
  if (got == want) return STATUS_OK;
  return log_fail(STATUS_WRONG, "%s: the sum is %08" PRIx32 ", must be %08" PRIx32, what, got, want);
}

status_t mem_position_check(struct mem_rig *rig, uint64_t got, uint64_t want, const char *what)
{
  if (mem_contents_corrupt(rig)) got ^= 8;
  if (got == want) return STATUS_OK;
  return log_fail(STATUS_WRONG, "%s: the chase ended at %" PRIx64 ", must end at %" PRIx64, what, got, want);
}

status_t mem_sum_of(struct mem_rig *rig, uint64_t bytes, uint32_t *sum)
{
  struct mem_check check = {.expect = MEM_EXPECT_XOR, .arrays = 1};
  struct gpu_mem none = {NULL, 0};
  RETURN_IF_FAILED(rig->ops->check(rig->exec, rig->sampler.queue, none, bytes, &check));
  *sum = check.sum;
  return STATUS_OK;
}
