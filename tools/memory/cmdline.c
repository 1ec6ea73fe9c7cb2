/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/memory/cmdline.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tools/memory/mem_ops.h"

#define AT(field) offsetof(struct mem_config, field)
#define MOST      ((uint64_t)1 << 52)

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
    {.name = "copies",
     .readers = SECTIONS,
     .type = OPTION_FLAG,
     .offset = AT(sections.copies),
     .group = "What to measure (default: copies, mixes, latency and host)",
     .help = "Copies of several streams at once over sizes, with and without pacing, beside the library's "
             "own copy and "
             "BabelStream's."},
    {.name = "mixes",
     .readers = SECTIONS,
     .type = OPTION_FLAG,
     .offset = AT(sections.mixes),
     .help = "Reading alone, writing alone, and 1, 3 and 13 reads for each write."},
    {.name = "latency",
     .readers = SECTIONS,
     .type = OPTION_FLAG,
     .offset = AT(sections.latency),
     .help = "A pointer chase in random order over strides and footprints; finds the caches, the memory and "
             "the TLBs."},
    {.name = "host",
     .readers = SECTIONS,
     .type = OPTION_FLAG,
     .offset = AT(sections.host),
     .help = "The host's own memory: COPY, TRIADD, READ, MEMCPY, and stores past the caches."},
    {.name = "roofline",
     .readers = SECTIONS,
     .type = OPTION_FLAG,
     .offset = AT(sections.roofline),
     .help = "Measured ceilings, and kernels from 1/16 to 512 operations a byte."},
    {.name = "pairs",
     .readers = SECTIONS,
     .type = OPTION_FLAG,
     .offset = AT(sections.pairs),
     .help = "Kernels before and after their addresses were made cheaper; scripts/isa-report counts their "
             "instructions."},
    {.name = "backend",
     .readers = SECTIONS,
     .letter = 'b',
     .type = OPTION_CUSTOM,
     .parse = parse_backend,
     .offset = AT(backend),
     .metavar = "NAME",
     .group = "Where and how",
     .help = "auto, cuda, opencl or cpu. auto takes CUDA, then a GPU by OpenCL, then the CPU."},
    {.name = "device",
     .readers = SECTIONS,
     .type = OPTION_TEXT,
     .offset = AT(device),
     .metavar = "N|UUID|NAME",
     .help = "The first device with this position, UUID or part of a name."},
    {.name = "streams",
     .readers = COPIES,
     .type = OPTION_CUSTOM,
     .parse = parse_streams,
     .offset = AT(streams),
     .metavar = "LIST",
     .help = "Copies at once, of 1,2,4,8,16 (default: each of them)."},
    {.name = "sizes",
     .readers = COPIES | MIXES | HOST | ROOFLINE,
     .type = OPTION_CUSTOM,
     .parse = parse_sizes,
     .offset = AT(sizes),
     .metavar = "LIST",
     .help =
         "Bytes to copy, in steps of 64K; as many are read as written. Default: from under the last cache to "
         "most of a GPU's memory; of the host's arrays four times the last cache. The mixes take the largest "
         "that "
         "fits 14 times, at most 1G, the roofline the first."},
    {.name = "pace",
     .readers = COPIES,
     .type = OPTION_CHOICE,
     .allowed = "both|free|paced",
     .offset = AT(pace),
     .metavar = "both|free|paced",
     .help = "Without and with a barrier of the block before each element."},
    {.name = "assign",
     .readers = COPIES,
     .type = OPTION_CHOICE,
     .allowed = "all|cyclic|block|group",
     .offset = AT(deal),
     .metavar = "all|cyclic|block|group",
     .help = "Neighbouring threads take neighbouring elements; or each thread, or each thread block, has a "
             "run of its "
             "own."},
    {.name = "widths",
     .readers = GPU_COPIES,
     .type = OPTION_CUSTOM,
     .parse = parse_widths,
     .offset = AT(widths),
     .metavar = "LIST",
     .help = "Bytes a thread moves at once, of 4,16 (GPUs)."},
    {.name = "threads",
     .readers = COPIES | HOST,
     .type = OPTION_CUSTOM,
     .parse = parse_counts,
     .offset = AT(threads),
     .metavar = "LIST",
     .help =
         "Threads a block; of the CPU, threads in all. Those of --host are in all too (default: 1 and all "
         "cores), where no GPU's copies are measured beside it."},
    {.name = "blocks",
     .readers = GPU_COPIES,
     .type = OPTION_CUSTOM,
     .parse = parse_counts,
     .offset = AT(blocks),
     .metavar = "LIST",
     .help = "Thread blocks for each compute unit (GPUs)."},
    {.name = "strides",
     .readers = LATENCY,
     .type = OPTION_CUSTOM,
     .parse = parse_strides,
     .offset = AT(strides),
     .metavar = "LIST",
     .help = "Of the pointer chase, bytes (default: a line, a page, a large page)."},
    {.name = "footprint",
     .readers = LATENCY,
     .type = OPTION_CUSTOM,
     .parse = parse_footprint,
     .offset = AT(footprint),
     .metavar = "SIZE",
     .help = "Largest of the pointer chase (default: most of a GPU's memory, 1G on a CPU)."},
    {.name = "kernels",
     .readers = ROOFLINE,
     .type = OPTION_TEXT,
     .file = OPTION_INPUT,
     .offset = AT(kernels),
     .metavar = "FILE,...",
     .help = "JSON documents of himeno-gpu, gemm-gpu and their ladders: their kernels are placed on the "
             "roofline, sweeps by the "
             "traffic that scripts/dram-traffic measured where its document is among them."},
    {.name = "time",
     .readers = SECTIONS,
     .letter = 't',
     .type = OPTION_REAL,
     .min = 0.001,
     .max = 1e5,
     .offset = AT(seconds),
     .metavar = "SECONDS",
     .group = "How long",
     .help = "Of samples in each section (default 10); it stops earlier when the medians are known to 0.25%, "
             "and takes "
             "longer where three samples of each need more."},
    OPTION_JSON(SECTIONS, "Result", ""),
    {.name = "list",
     .readers = OPTION_ALWAYS,
     .type = OPTION_FLAG,
     .offset = AT(list),
     .help = "Show backends and devices, with the reason where one is missing, and end."},
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
    .usage = "[OPTION]...",
    .epilogue = "Examples:\n"
                "  mem-gpu                                       what is known of this memory, in a minute\n"
                "  mem-gpu --copies --streams 8 --sizes 1G       eight copies of 128 MiB at once\n"
                "  mem-gpu --roofline --kernels L.json,gemm.json where these kernels stand under the roof\n"
                "\n"
                "For tests: HIMENO_MEM_CORRUPT=N flips a bit in what is compared for the Nth time.\n"
                "\n"
                "Exit status: 0 pass, 2 usage, 3 environment (no such device, library, too little memory), 4 "
                "wrong contents,\n"
                "7 runtime fault.\n",
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
