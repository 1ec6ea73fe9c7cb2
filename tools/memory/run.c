/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/memory/run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/switches.h"
#include "gpu/select.h"

/* ---- what was copied, read or chased is what it must be ---- */

int mem_contents_corrupt(struct mem_run *run)
{
  return switch_number("HIMENO_MEM_CORRUPT", 0) == (long long)++run->checks;
}

static status_t flip_bit(struct mem_run *run, struct gpu_mem mem, uint64_t at)
{
  uint32_t word;
  RETURN_IF_FAILED(gpu_copy_out(run->sampler.queue, &word, mem, at, sizeof word));
  RETURN_IF_FAILED(gpu_sync(run->sampler.queue));
  word ^= 0x00010000u;
  RETURN_IF_FAILED(gpu_copy_in(run->sampler.queue, mem, at, &word, sizeof word));
  return gpu_sync(run->sampler.queue);
}

status_t mem_contents_check(struct mem_run *run, struct gpu_mem mem, uint64_t bytes, struct mem_check check,
                            const char *what)
{
  if (mem_contents_corrupt(run)) RETURN_IF_FAILED(flip_bit(run, mem, bytes / 8 * 4));
  RETURN_IF_FAILED(run->ops->check(run->exec, run->sampler.queue, mem, bytes, &check));
  if (!check.wrong) return STATUS_OK;
  return log_fail(STATUS_WRONG, "%s: %" PRIu64 " of %" PRIu64 " words are wrong, the first is word %" PRIu64,
                  what, check.wrong, bytes / 4, check.first);
}

status_t mem_word_check(struct mem_run *run, struct gpu_mem word, uint32_t want, const char *what)
{
  uint32_t got;
  if (mem_contents_corrupt(run)) RETURN_IF_FAILED(flip_bit(run, word, 0));
  RETURN_IF_FAILED(gpu_copy_out(run->sampler.queue, &got, word, 0, sizeof got));
  RETURN_IF_FAILED(gpu_sync(run->sampler.queue));
  if (got == want) return STATUS_OK;
  return log_fail(STATUS_WRONG, "%s: the sum is %08" PRIx32 " and must be %08" PRIx32, what, got, want);
}

status_t mem_position_check(struct mem_run *run, uint64_t got, uint64_t want, const char *what)
{
  if (mem_contents_corrupt(run)) got ^= 8;
  if (got == want) return STATUS_OK;
  return log_fail(STATUS_WRONG, "%s: the chase came to %" PRIx64 " and must come to %" PRIx64, what, got,
                  want);
}

status_t mem_sum_of(struct mem_run *run, uint64_t bytes, uint32_t *sum)
{
  struct mem_check check = {.expect = MEM_EXPECT_XOR, .arrays = 1};
  struct gpu_mem none = {NULL, 0};
  RETURN_IF_FAILED(run->ops->check(run->exec, run->sampler.queue, none, bytes, &check));
  *sum = check.sum;
  return STATUS_OK;
}

/* ---- a run ---- */

static status_t open_device(struct mem_run *run)
{
  const struct gpu_backend *backend;
  int index;
  RETURN_IF_FAILED(gpu_select(run->config.backend, run->config.device, &backend, &index));
  run->ops = mem_ops_find(backend->name);
  if (!run->ops) return log_fail(STATUS_ENVIRONMENT, "backend %s has no memory kernels", backend->name);
  RETURN_IF_FAILED(gpu_open(backend, index, &run->device));
  log_set_device(run->device->info.uuid[0] ? run->device->info.uuid : run->device->info.name);
  RETURN_IF_FAILED(run->ops->open(run->device, &run->exec));
  run->ops->traits(run->exec, &run->traits);
  mem_cmdline_ignore(&run->config, run->traits.blocks_max > 1);
  return sampler_open(run->device, &run->sampler);
}

static status_t sections_run(struct mem_run *run)
{
  const struct mem_sections *s = &run->config.sections;
  if (s->copies) RETURN_IF_FAILED(mem_copies_run(run));
  if (s->mixes) RETURN_IF_FAILED(mem_mixes_run(run));
  if (s->latency) RETURN_IF_FAILED(mem_latency_run(run));
  if (s->host) RETURN_IF_FAILED(mem_host_run(run));
  if (s->roofline) RETURN_IF_FAILED(mem_roofline_run(run));
  return s->pairs ? mem_pairs_run(run) : STATUS_OK;
}

status_t mem_run(struct mem_run *run)
{
  RETURN_IF_FAILED(open_device(run));
  run->verdict = sections_run(run);
  return run->verdict;
}

void mem_run_close(struct mem_run *run)
{
  free(run->latency.curves);
  free(run->copies.points);
  free(run->host);
  if (!run->device) return;
  sampler_close(&run->sampler);
  if (run->exec && run->ops->close) run->ops->close(run->exec);
  gpu_close(run->device);
}
