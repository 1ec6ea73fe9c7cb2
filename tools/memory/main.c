/* SPDX-License-Identifier: MIT */
/* mem-gpu: bandwidth and latency of a device's memory. program_main parses the options and calls
 * mem_measure, which opens the device (run.rig) and measures the sections that were asked for, one
 * after the other, into `run`. The functions below write the results as report and document. */
#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/output.h"
#include "base/switches.h"
#include "gpu/select.h"
#include "suite/program.h"
#include "suite/progress.h"
#include "tools/memory/state.h"

SWITCH("HIMENO_MEM_CORRUPT", TEST, OWN, COUNT,
       "mem-gpu: flips a bit of the data before that check of a result");

static struct mem_run run;

static status_t mem_device_open(void)
{
  int index;
  progress_begin("finding devices");
  RETURN_IF_FAILED(gpu_select(run.config.backend, run.config.device, &run.claim, &index));
  const struct gpu_backend *backend = gpu_backends[run.claim.backend];
  run.rig.corrupt = (uint64_t)switch_number("HIMENO_MEM_CORRUPT", 0);
  run.rig.ops = mem_ops_find(backend->name);
  if (!run.rig.ops) return log_fail(STATUS_ENVIRONMENT, "backend %s has no memory kernels", backend->name);
  RETURN_IF_FAILED(gpu_open(backend, index, &run.rig.device));
  log_set_device(run.rig.device->info.uuid[0] ? run.rig.device->info.uuid : run.rig.device->info.name);
  RETURN_IF_FAILED(run.rig.ops->open(run.rig.device, &run.rig.exec));
  run.rig.ops->traits(run.rig.exec, &run.rig.traits);
  mem_cmdline_ignore(&run.config, run.rig.traits.blocks_max > 1);
  return sampler_open(run.rig.device, &run.rig.sampler);
}

static status_t sections_run(void)
{
  const struct mem_sections *s = &run.config.sections;
  const struct {
    int asked;
    const char *name;
    double least; /* seconds for the minimum number of samples on two cores of a CPU */
    status_t (*run)(struct mem_run *run);
  } sections[] = {{s->copies, "copies", 17, mem_copies_run},
                  {s->mixes, "mixes of reads and writes", 3, mem_mixes_run},
                  {s->latency, "latency", 27, mem_latency_run},
                  {s->host, "the host's memory", 3, mem_host_run},
                  {s->roofline, "roofline", 3, mem_roofline_run}};
  const int n = (int)(sizeof sections / sizeof *sections);
  const int on_cpu = run.rig.device->info.is_cpu;
  int all = 0, now = 0;
  for (int i = 0; i < n; i++) all += sections[i].asked != 0;
  for (int i = 0; i < n; i++) {
    if (!sections[i].asked) continue;
    double left = 0;
    for (int l = i; l < n; l++)
      if (sections[l].asked) left += fmax(run.config.seconds, on_cpu ? sections[l].least : 0);
    progress_expect(left);
    progress_begin("measuring, %d of %d: %s", ++now, all, sections[i].name);
    RETURN_IF_FAILED(sections[i].run(&run));
  }
  return STATUS_OK;
}

static status_t mem_measure(int *ended)
{
  RETURN_IF_FAILED(mem_device_open());
  run.verdict = sections_run();
  *ended = run.verdict == STATUS_OK || run.verdict == STATUS_WRONG;
  return run.verdict;
}

static void mem_report(FILE *out)
{
  mem_report_text(&run, out);
}

static void mem_main_document(struct doc *d)
{
  mem_document(d, &run);
}

static void mem_list(FILE *out)
{
  mem_report_list(run.config.backend, out);
}

static void mem_close_all(void)
{
  free(run.latency.curves);
  free(run.copies.points);
  free(run.host);
  if (!run.rig.device) return;
  sampler_close(&run.rig.sampler);
  if (run.rig.exec && run.rig.ops->close) run.rig.ops->close(run.rig.exec);
  gpu_close(run.rig.device);
}

static const struct program program = {.options = &mem_options,
                                       .config = &run.config,
                                       .json = &run.config.json,
                                       .list = &run.config.list,
                                       .quiet = &run.config.quiet,
                                       .run = mem_measure,
                                       .report = mem_report,
                                       .fields = mem_main_document,
                                       .print_list = mem_list,
                                       .close = mem_close_all,
                                       .names_host = 1};

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  return program_main(&program, argc, argv);
}
