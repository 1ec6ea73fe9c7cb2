/* SPDX-License-Identifier: MIT */
#include "tools/memory/cmdline.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tools/memory/mem_ops.h"

#define CONFIG struct mem_config
#define MOST   ((uint64_t)1 << 52)

/* What reads an option: the sections, and copies on a device that has thread blocks. */
enum {
  COPIES = 1,
  MIXES = 2,
  LATENCY = 4,
  HOST = 8,
  ROOFLINE = 16,
  PAIRS = 32,
  SECTIONS = 63,
  GPU_COPIES = 64
};

static status_t parse_backend(const char *option, const char *text, void *field)
{
  const struct gpu_backend **backend = field;
  *backend = NULL;
  if (strcmp(text, "auto") == 0) return STATUS_OK;
  if ((*backend = gpu_backend_find(text)) && !(*backend)->for_tests) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s %s: allowed are auto, cuda, opencl, cpu", option, text);
}

static status_t parse_streams(const char *option, const char *text, void *field)
{
  struct mem_values *streams = field;
  RETURN_IF_FAILED(mem_values_parse(option, text, 1, MEM_STREAMS_MAX, 1, streams));
  for (int i = 0; i < streams->n; i++)
    if (streams->at[i] & (streams->at[i] - 1))
      return log_fail(STATUS_USAGE, "%s %s: allowed are 1, 2, 4, 8 and 16, separated by commas", option,
                      text);
  return STATUS_OK;
}

static status_t parse_sizes(const char *option, const char *text, void *field)
{
  return mem_values_parse(option, text, MEM_GRAIN, MOST, MEM_GRAIN, field);
}

static status_t parse_widths(const char *option, const char *text, void *field)
{
  struct mem_values *widths = field;
  RETURN_IF_FAILED(mem_values_parse(option, text, 4, 16, 4, widths));
  if (mem_values_have(widths, 8) || mem_values_have(widths, 12))
    return log_fail(STATUS_USAGE, "%s %s: allowed are 4, 16 and 4,16", option, text);
  return STATUS_OK;
}

static status_t parse_counts(const char *option, const char *text, void *field)
{
  return mem_values_parse(option, text, 1, 1024, 1, field);
}

static status_t parse_strides(const char *option, const char *text, void *field)
{
  return mem_values_parse(option, text, 8, (uint64_t)1 << 31, 8, field);
}

static status_t parse_footprint(const char *option, const char *text, void *field)
{
  struct mem_values values;
  RETURN_IF_FAILED(mem_values_parse(option, text, 8192, MOST, 1, &values));
  if (values.n > 1) return log_fail(STATUS_USAGE, "%s %s: allowed is one size", option, text);
  *(uint64_t *)field = values.at[0];
  return STATUS_OK;
}

static const struct option_spec options[] = {
    {"copies", 0, SECTIONS, OPTION_FLAG(sections.copies),
     "Copies of several streams at once over sizes, with and without pacing, beside the library's own copy "
     "and BabelStream's.",
     .group = "What to measure (default: copies, mixes, latency and host)"},
    {"mixes", 0, SECTIONS, OPTION_FLAG(sections.mixes),
     "Reading alone, writing alone, and 1, 3 and 13 reads for each write."},
    {"latency", 0, SECTIONS, OPTION_FLAG(sections.latency),
     "A pointer chase in random order over strides and footprints; finds the caches, the memory and the "
     "TLBs."},
    {"host", 0, SECTIONS, OPTION_FLAG(sections.host),
     "The host's own memory: COPY, TRIADD, READ, MEMCPY, and stores past the caches."},
    {"roofline", 0, SECTIONS, OPTION_FLAG(sections.roofline),
     "Measured ceilings, and kernels from 1/16 to 512 operations a byte."},
    {"pairs", 0, SECTIONS, OPTION_FLAG(sections.pairs),
     "Kernels before and after their addresses were made cheaper; scripts/isa-report counts their "
     "instructions."},
    {"backend", 'b', OPTION_LISTED | SECTIONS, OPTION_CUSTOM(backend, parse_backend, "NAME"),
     "auto, cuda, opencl or cpu. auto takes CUDA, then a GPU by OpenCL, then the CPU.",
     .group = "Where and how"},
    {"device", 0, SECTIONS, OPTION_TEXT(device, "N|UUID|NAME"),
     "The first device with this position, UUID or part of a name."},
    {"streams", 0, COPIES, OPTION_CUSTOM(streams, parse_streams, "LIST"),
     "Copies at once, of 1,2,4,8,16 (default: each of them)."},
    {"sizes", 0, COPIES | MIXES | HOST | ROOFLINE, OPTION_CUSTOM(sizes, parse_sizes, "LIST"),
     "Bytes to copy, in steps of 64K; as many are read as written. Default: from under the last cache to "
     "most of a GPU's memory; of the host's arrays four times the last cache. The mixes take the largest "
     "that fits 14 times, at most 1G, the roofline the first."},
    {"pace", 0, COPIES, OPTION_CHOICE(pace, "both|free|paced"),
     "Without and with a barrier of the block before each element."},
    {"assign", 0, COPIES, OPTION_CHOICE(deal, "all|cyclic|block|group"),
     "Neighbouring threads take neighbouring elements; or each thread, or each thread block, has a run of "
     "its own."},
    {"widths", 0, GPU_COPIES, OPTION_CUSTOM(widths, parse_widths, "LIST"),
     "Bytes a thread moves at once, of 4,16 (GPUs)."},
    {"threads", 0, COPIES | HOST, OPTION_CUSTOM(threads, parse_counts, "LIST"),
     "Threads a block; of the CPU, threads in all. Those of --host are in all too (default: 1 and all "
     "cores), where no GPU's copies are measured beside it."},
    {"blocks", 0, GPU_COPIES, OPTION_CUSTOM(blocks, parse_counts, "LIST"),
     "Thread blocks for each compute unit (GPUs)."},
    {"strides", 0, LATENCY, OPTION_CUSTOM(strides, parse_strides, "LIST"),
     "Of the pointer chase, bytes (default: a line, a page, a large page)."},
    {"footprint", 0, LATENCY, OPTION_CUSTOM(footprint, parse_footprint, "SIZE"),
     "Largest of the pointer chase (default: most of a GPU's memory, 1G on a CPU)."},
    {"kernels", 0, ROOFLINE, OPTION_INPUT(kernels, "FILE,..."),
     "JSON documents of himeno-gpu, gemm-gpu and their ladders: their kernels are placed on the roofline, "
     "sweeps by the traffic that scripts/dram-traffic measured where its document is among them."},
    {"time", 't', SECTIONS, OPTION_TIME(seconds, 0.001, 1e5, "DURATION"),
     "Of samples in each section (30, 5m; default 10); it stops earlier when the medians are known to 0.25%, "
     "and "
     "takes longer where three samples of each need more.",
     .group = "How long"},
    {OPTION_JSON(SECTIONS, "Result", "")},
    {OPTION_QUIET},
    {OPTION_LIST("backends and devices")},
};

static const struct mem_config defaults = {.seconds = 10};

static status_t check(void *config)
{
  struct mem_config *c = config;
  struct mem_sections *s = &c->sections;
  if (!(s->copies | s->mixes | s->latency | s->host | s->roofline | s->pairs))
    s->copies = s->mixes = s->latency = s->host = 1;
  return STATUS_OK;
}

static const struct option_pair joined[] = {{"kernels", "roofline"}, {NULL}};

const struct option_program mem_options = {
    .name = "mem-gpu",
    .summary = "what a device's memory can do: streams and pacing, latency, host memory, roofline",
    .epilogue = "Examples:\n"
                "  mem-gpu                                       what is known of this memory, in a minute\n"
                "  mem-gpu --copies --streams 8 --sizes 1G       eight copies of 128 MiB at once\n"
                "  mem-gpu --roofline --kernels L.json,gemm.json where these kernels stand under the roof\n"
                "\n"
                "For tests: HIMENO_MEM_CORRUPT=N flips a bit in what is compared for the Nth time.\n",
    .exits = "4 wrong contents,\n7 runtime fault.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .defaults = &defaults,
    .config_bytes = sizeof defaults,
    .check = check,
    .joined = joined,
};

void mem_cmdline_ignore(const struct mem_config *c, int blocks)
{
  const struct mem_sections *s = &c->sections;
  const int asked[] = {s->copies, s->mixes, s->latency, s->host, s->roofline, s->pairs};
  static const char *const names[] = {"copies", "mixes", "latency", "host", "roofline", "pairs"};
  char text[96];
  int readers = 0;
  for (int n = 0, at = 0; n < (int)(sizeof asked / sizeof asked[0]); n++) {
    if (!asked[n]) continue;
    readers |= 1 << n;
    at += sprintf(text + at, "%s--%s", at ? " " : "", names[n]);
  }
  if ((readers & COPIES) && blocks) readers |= GPU_COPIES;
  if ((readers & COPIES) && !blocks) strcat(text, " on a CPU");
  option_ignore((unsigned)readers, text);
}
