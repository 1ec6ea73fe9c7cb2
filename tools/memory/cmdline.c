/* SPDX-License-Identifier: MIT */
#include "tools/memory/cmdline.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tools/memory/kernels/mem_ops.h"
#include "base/values.h"
#include "base/report.h"

#define CONFIG struct mem_config
#define MOST   ((uint64_t)1 << 52)

/* Sections that read an option. GPU_COPIES: copies on a device with thread blocks. */
enum { COPIES = 1, MIXES = 2, LATENCY = 4, HOST = 8, ROOFLINE = 16, SECTIONS = 31, GPU_COPIES = 32 };

static int mem_values_have(const struct mem_values *values, uint64_t value)
{
  for (int i = 0; i < values->n; i++)
    if (values->at[i] == value) return 1;
  return 0;
}

static status_t mem_values_refuse(const char *option, const char *text, uint64_t least, uint64_t most,
                                  uint64_t grain)
{
  char step[64] = "";
  if (grain > 1) snprintf(step, sizeof step, " in steps of %s", report_bytes(grain));
  if (most < 65536)
    return log_fail(STATUS_USAGE, "%s %s: must be numbers from %d to %d%s, separated by commas", option, text,
                    (int)least, (int)most, step);
  return log_fail(STATUS_USAGE, "%s %s: must be sizes such as 64K or 1.5G, from %s%s, separated by commas",
                  option, text, report_bytes(least), step);
}

static status_t mem_values_parse(const char *option, const char *text, uint64_t least, uint64_t most,
                                 uint64_t grain, struct mem_values *values)
{
  struct mem_values found = {.n = 0};
  char one[32];
  uint64_t value;
  for (const char *rest = text; rest;) {
    rest = value_next(rest, ',', one, sizeof one);
    if (found.n == MEM_VALUES_MAX || value_read_bytes(one, &value) != STATUS_OK || value < least ||
        value > most || value % grain)
      return mem_values_refuse(option, text, least, most, grain);
    if (!mem_values_have(&found, value)) found.at[found.n++] = value;
  }
  *values = found;
  return STATUS_OK;
}

static status_t parse_backend(const char *option, const char *text, void *field)
{
  const struct gpu_backend **backend = field;
  *backend = NULL;
  if (strcmp(text, "auto") == 0) return STATUS_OK;
  if ((*backend = gpu_backend_find(text)) && !(*backend)->for_tests) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s %s: must be one of auto, cuda, opencl, cpu", option, text);
}

static status_t parse_streams(const char *option, const char *text, void *field)
{
  struct mem_values *streams = field;
  RETURN_IF_FAILED(mem_values_parse(option, text, 1, MEM_STREAMS_MAX, 1, streams));
  for (int i = 0; i < streams->n; i++)
    if (streams->at[i] & (streams->at[i] - 1))
      return log_fail(STATUS_USAGE, "%s %s: must be 1, 2, 4, 8 or 16, or several of them separated by commas",
                      option, text);
  return STATUS_OK;
}

static status_t mem_parse_sizes(const char *option, const char *text, void *field)
{
  return mem_values_parse(option, text, MEM_GRAIN, MOST, MEM_GRAIN, field);
}

static status_t parse_widths(const char *option, const char *text, void *field)
{
  struct mem_values *widths = field;
  RETURN_IF_FAILED(mem_values_parse(option, text, 4, 16, 4, widths));
  if (mem_values_have(widths, 8) || mem_values_have(widths, 12))
    return log_fail(STATUS_USAGE, "%s %s: must be 4, 16 or 4,16", option, text);
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
  if (values.n > 1) return log_fail(STATUS_USAGE, "%s %s: must be one size", option, text);
  *(uint64_t *)field = values.at[0];
  return STATUS_OK;
}

static const struct option_spec options[] = {
    {"copies", 0, SECTIONS, OPTION_FLAG(sections.copies),
     "Measure the bandwidth of 1 to 16 concurrent array copies over several sizes, with both variants of "
     "--pace. Compare it with cudaMemcpy, clEnqueueCopyBuffer or memcpy, and with BabelStream's copy.",
     .group = "What to measure (default: copies, mixes, latency and host)"},
    {"mixes", 0, SECTIONS, OPTION_FLAG(sections.mixes),
     "Measure bandwidth with only reads, only writes, and 1, 3 or 13 reads per write."},
    {"latency", 0, SECTIONS, OPTION_FLAG(sections.latency),
     "Measure the latency of loads by a pointer chase in random order, and derive the sizes and "
     "latencies of caches, memory and TLBs."},
    {"host", 0, SECTIONS, OPTION_FLAG(sections.host),
     "Measure the bandwidth of the host's memory: copy, triad, read and memcpy, with ordinary "
     "stores and stores that bypass the caches."},
    {"roofline", 0, SECTIONS, OPTION_FLAG(sections.roofline),
     "Measure a roofline: peak bandwidth and arithmetic, and kernels with 1/16 to 512 operations "
     "per byte."},
    {"backend", 'b', OPTION_LISTED | SECTIONS, OPTION_CUSTOM(backend, parse_backend, "NAME"),
     "Select the backend: auto, cuda, opencl or cpu. auto takes CUDA, then a GPU by OpenCL, then the CPU "
     "(default: auto).",
     .group = "Where and how"},
    {"device", 0, SECTIONS, OPTION_TEXT(device, "N|UUID|NAME"),
     "Use the first device with this index in --list, UUID or part of a name (default: the first)."},
    {"streams", 0, COPIES, OPTION_CUSTOM(streams, parse_streams, "LIST"),
     "With --copies: set how many arrays are copied at once, not CUDA streams (default: 1,2,4,8,16)."},
    {"sizes", 0, COPIES | MIXES | HOST | ROOFLINE, OPTION_CUSTOM(sizes, mem_parse_sizes, "LIST"),
     "Set sizes in bytes, such as 1M,1G (1K is 1024); multiples of 64K. --copies: the total of all "
     "concurrent copies (default: from below the last-level cache to most of a GPU's memory). --host: the "
     "size of an array (default: four times the last-level cache). --mixes: takes the largest size, up to "
     "1G, of which 14 arrays fit into memory. --roofline: takes the first size."},
    {"pace", 0, COPIES, OPTION_CHOICE(pace, "both|free|paced"),
     "With --copies: select whether the threads of a block wait for each other. paced: they wait before "
     "each element, so that they access neighbouring addresses at the same time. free: they do not wait "
     "(default: both)."},
    {"assign", 0, COPIES, OPTION_CHOICE(assign, "all|cyclic|block|group"),
     "With --copies: select which elements a thread copies. cyclic: adjacent threads take adjacent "
     "elements. block: each thread takes a contiguous part. group: each thread block takes a contiguous "
     "part (default: all)."},
    {"widths", 0, GPU_COPIES, OPTION_CUSTOM(widths, parse_widths, "LIST"),
     "With --copies on GPUs: set the bytes per access: 4, 16 or 4,16 (default: 4,16)."},
    {"threads", 0, COPIES | HOST, OPTION_CUSTOM(threads, parse_counts, "LIST"),
     "With --copies on GPUs: set the threads per block (default: 256; at the largest size up to 1G also 128, "
     "512, 1024). On a CPU and with --host: set the total number of threads (default: 1 and all cores)."},
    {"blocks", 0, GPU_COPIES, OPTION_CUSTOM(blocks, parse_counts, "LIST"),
     "With --copies on GPUs: set the thread blocks per multiprocessor (default: 8; at the largest size up "
     "to 1G also 1, 2, 4)."},
    {"strides", 0, LATENCY, OPTION_CUSTOM(strides, parse_strides, "LIST"),
     "With --latency: set the strides of the pointer chase in bytes (default: a cache line, a page and a "
     "large page)."},
    {"footprint", 0, LATENCY, OPTION_CUSTOM(footprint, parse_footprint, "SIZE"),
     "With --latency: set the largest memory range of the pointer chase in bytes (default: most of a GPU's "
     "memory, 1G on a CPU)."},
    {"kernels", 0, ROOFLINE, OPTION_INPUT(kernels, "FILE,..."),
     "With --roofline: add the kernels in these JSON documents of himeno-gpu and gemm-gpu. If a "
     "document of scripts/dram-traffic is listed too, use its measured memory traffic for "
     "himeno-gpu's kernels."},
    {"time", 't', SECTIONS, OPTION_TIME(seconds, 0.001, 1e5, "DURATION"),
     "Measure each section (--copies, --mixes, ...) for about this long: 30 (seconds) or 5m. It ends "
     "earlier once all medians have standard errors below 0.25%, but takes at least three samples of each "
     "(default: 10s).",
     .group = "How long"},
    {OPTION_JSON(SECTIONS, "Result", "")},
    {OPTION_QUIET},
    {OPTION_LIST("backends and devices")},
};

static const struct mem_config defaults = {.seconds = 10};

static status_t mem_options_check(void *config)
{
  struct mem_config *c = config;
  struct mem_sections *s = &c->sections;
  if (!(s->copies | s->mixes | s->latency | s->host | s->roofline))
    s->copies = s->mixes = s->latency = s->host = 1;
  return STATUS_OK;
}

static const struct option_pair joined[] = {{"kernels", "roofline"}, {0}};

const struct option_program mem_options = {
    .name = "mem-gpu",
    .summary = "Measure the memory bandwidth and latency of a device and its host, and the roofline",
    .epilogue = "Examples:\n"
                "  mem-gpu                                        copies, mixes, latency and host memory, in "
                "a minute\n"
                "  mem-gpu --copies --streams 8 --sizes 1G        eight concurrent copies of 128 MiB\n"
                "  mem-gpu --roofline --kernels L.json,gemm.json  these kernels on the roofline\n"
                "\n"
                "For tests: HIMENO_MEM_CORRUPT=N flips a bit of the data before the Nth check of a result.\n",
    .exits = "4 wrong data\nin memory; 7 runtime fault (CUDA or OpenCL).",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .defaults = &defaults,
    .config_bytes = sizeof defaults,
    .check = mem_options_check,
    .joined = joined,
};

void mem_cmdline_ignore(const struct mem_config *c, int blocks)
{
  const struct mem_sections *s = &c->sections;
  const int asked[] = {s->copies, s->mixes, s->latency, s->host, s->roofline};
  static const char *const names[] = {"copies", "mixes", "latency", "host", "roofline"};
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
