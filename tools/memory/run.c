/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/memory/run.h"

#include <stdlib.h>

#include "base/log.h"
#include "gpu/select.h"

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
  if (run->exec) run->ops->close(run->exec);
  gpu_close(run->device);
}
