/* SPDX-License-Identifier: MIT */
/* mem-gpu: what can this memory do? */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "gpu/select.h"
#include "suite/program.h"
#include "tools/memory/state.h"

static struct mem_run run;

static status_t open_device(void)
{
  const struct gpu_backend *backend;
  int index;
  RETURN_IF_FAILED(gpu_select(run.config.backend, run.config.device, &backend, &index));
  run.ops = mem_ops_find(backend->name);
  if (!run.ops) return log_fail(STATUS_ENVIRONMENT, "backend %s has no memory kernels", backend->name);
  RETURN_IF_FAILED(gpu_open(backend, index, &run.device));
  log_set_device(run.device->info.uuid[0] ? run.device->info.uuid : run.device->info.name);
  RETURN_IF_FAILED(run.ops->open(run.device, &run.exec));
  run.ops->traits(run.exec, &run.traits);
  mem_cmdline_ignore(&run.config, run.traits.blocks_max > 1);
  return sampler_open(run.device, &run.sampler);
}

static status_t sections_run(void)
{
  const struct mem_sections *s = &run.config.sections;
  if (s->copies) RETURN_IF_FAILED(mem_copies_run(&run));
  if (s->mixes) RETURN_IF_FAILED(mem_mixes_run(&run));
  if (s->latency) RETURN_IF_FAILED(mem_latency_run(&run));
  if (s->host) RETURN_IF_FAILED(mem_host_run(&run));
  if (s->roofline) RETURN_IF_FAILED(mem_roofline_run(&run));
  return s->pairs ? mem_pairs_run(&run) : STATUS_OK;
}

static status_t measure(int *ended)
{
  RETURN_IF_FAILED(open_device());
  run.verdict = sections_run();
  *ended = run.verdict == STATUS_OK || run.verdict == STATUS_WRONG;
  return run.verdict;
}

static void report(FILE *out)
{
  mem_report_text(&run, out);
}

static json_t *document(void)
{
  return mem_report_json(&run);
}

static void list(FILE *out)
{
  mem_report_list(run.config.backend, out);
}

static void close_all(void)
{
  free(run.latency.curves);
  free(run.copies.points);
  free(run.host);
  if (!run.device) return;
  sampler_close(&run.sampler);
  if (run.exec && run.ops->close) run.ops->close(run.exec);
  gpu_close(run.device);
}

static const struct program program = {.options = &mem_options,
                                       .config = &run.config,
                                       .json = &run.config.json,
                                       .list = &run.config.list,
                                       .run = measure,
                                       .report = report,
                                       .document = document,
                                       .print_list = list,
                                       .close = close_all,
                                       .names_host = 1};

int main(int argc, char **argv)
{
  return program_main(&program, argc, argv);
}
