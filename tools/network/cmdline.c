/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/network/cmdline.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/values.h"
#include "comm/ranks/options.h"
#include "gpu/device_options.h"

#define CONFIG struct bench_config

#define SIZE_MAX_BYTES ((int64_t)1 << 32)
#define WORD_BYTES     8

static const struct {
  const char *name;
  enum bench_part part;
} parts[] = {{"host", BENCH_HOST}, {"pairs", BENCH_PAIRS}, {"halo", BENCH_HALO}, {"allreduce", BENCH_REDUCE}};

#define PARTS (sizeof parts / sizeof parts[0])

const char *bench_part_name(enum bench_part part)
{
  for (size_t p = 0; p < PARTS; p++)
    if (parts[p].part == part) return parts[p].name;
  return "unknown";
}

/* Bytes with K, M or G, binary. */
static status_t parse_bytes(const char *option, const char *text, void *field)
{
  static const char units[] = "KMG";
  char number[32];
  long long value;
  size_t length = strlen(text);
  const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
  int shift = unit ? 10 * (int)(unit - units + 1) : 0;
  length -= unit != NULL;
  if (length >= sizeof number) goto bad;
  memcpy(number, text, length);
  number[length] = '\0';
  if (value_read_int(number, 1, SIZE_MAX_BYTES >> shift, &value) != STATUS_OK) goto bad;
  value <<= shift;
  if (value % WORD_BYTES != 0) goto bad;
  *(int64_t *)field = value;
  return STATUS_OK;
bad:
  return log_fail(STATUS_USAGE, "%s %s: allowed are 8 to 4G bytes, a multiple of 8, with K, M or G", option,
                  text);
}

static status_t parse_parts(const char *option, const char *text, void *field)
{
  int *chosen = field;
  char word[16];
  *chosen = 0;
  for (const char *rest = text; rest;) {
    size_t p = 0;
    rest = value_next(rest, ',', word, sizeof word);
    while (p < PARTS && strcmp(parts[p].name, word) != 0) p++;
    if (p == PARTS)
      return log_fail(STATUS_USAGE, "%s %s: allowed are host, pairs, halo, allreduce, with commas between",
                      option, text);
    *chosen |= parts[p].part;
  }
  return STATUS_OK;
}

static status_t parse_transport(const char *option, const char *text, void *field)
{
  const struct halo_transport **transport = field;
  *transport = strcmp(text, "all") == 0 ? NULL : halo_transport_find(text);
  if (*transport || strcmp(text, "all") == 0) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s %s: there is no such transport; --list shows them", option, text);
}

static const struct option_spec options[] = {
    {"parts", 0, BENCH_ALL, OPTION_CUSTOM(parts, parse_parts, "LIST"),
     "Any of host, pairs, halo, allreduce, with commas between. Default: all.", .group = "What"},
    {"transport", 'x', BENCH_PAIRS | BENCH_HALO, OPTION_CUSTOM(transport, parse_transport, "all|TRANSPORT"),
     "Only this way between devices; --list shows them."},
    {"min", 0, BENCH_HOST | BENCH_PAIRS, OPTION_CUSTOM(min_bytes, parse_bytes, "BYTES"),
     "Smallest transfer (default 8)."},
    {"max", 0, BENCH_HOST | BENCH_PAIRS | BENCH_REDUCE, OPTION_CUSTOM(max_bytes, parse_bytes, "BYTES"),
     "Largest transfer, with K, M or G. Default: 256M on a GPU, 16M on a CPU, less where memory is.",
     .given = OPTION_GIVEN(max_given)},
    {"step", 0, BENCH_HOST | BENCH_PAIRS | BENCH_REDUCE, OPTION_INT(step, 2, 1024, "N"),
     "From one size to the next (default 4)."},
    {"samples", 0, BENCH_ALL, OPTION_INT(samples, 1, BENCH_SAMPLES_MAX, "N"),
     "Batches a point (default 7); their median counts."},
    {"size", 's', BENCH_HALO, OPTION_CUSTOM(size, grid_size_parse, "SIZE"),
     "XS, S, M, L, XL or IxJxK valid extents. Default: L on a GPU, M on a CPU.", .group = "The halo part",
     .given = OPTION_GIVEN(size_given)},
    {"weak", 'w', BENCH_HALO, OPTION_FLAG(weak), "Every rank gets the interior of SIZE."},
    {RANKS_OPTION_PROCS(BENCH_HALO, "takes the cheapest exchange by model.")},
    {"depth", 0, BENCH_HALO, OPTION_INT(depth, 1, 8, "T"),
     "Layers of a halo: the T of a temporal kernel (default 1)."},
    {"backend", 'b', BENCH_ALL, OPTION_CUSTOM(backend, gpu_backend_parse, "NAME"),
     "auto, cuda, opencl, cpu, or null (a test device). auto takes CUDA, then a GPU by OpenCL, then the CPU.",
     .group = "Where"},
    {DEVICE_OPTION_DEVICE(BENCH_ALL)},
    {DEVICE_OPTION_BIND(BENCH_ALL)},
    {RANKS_OPTION_TIMEOUT(BENCH_ALL)},
    {OPTION_JSON(BENCH_ALL, "Result", " himeno-predict reads it, and scripts/plot draws it.")},
    {OPTION_LIST("devices, transports and network cards")},
};

static const struct bench_config defaults = {.parts = BENCH_ALL,
                                             .min_bytes = WORD_BYTES,
                                             .step = 4,
                                             .samples = 7,
                                             .depth = 1,
                                             .timeout = WATCH_SECONDS};

static status_t check(void *config)
{
  struct bench_config *c = config;
  if (!c->max_given || c->max_bytes >= c->min_bytes) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--max %lld is below --min %lld", (long long)c->max_bytes,
                  (long long)c->min_bytes);
}

const struct option_program bench_options = {
    .name = "comm-gpu",
    .summary = "Latency and bandwidth of every path between GPUs: host, neighbours, halos, sums",
    .epilogue = "Examples:\n"
                "  mpirun -np 8 comm-gpu --json paths.json      every path of eight devices\n"
                "  mpirun -np 4 comm-gpu --parts halo -s XL     the halo exchange of XL over four\n"
                "  comm-gpu --parts host                        host and device only\n"
                "\n"
                "Environment, for tests:\n"
                "  HIMENO_SYSFS=FOLDER        network cards are read from there and not from /sys\n"
                "  HIMENO_BENCH_CORRUPT=N     each rank damages what arrives in its Nth "
                "transfer\n",
    .exits = "4 content that arrived changed,\n6 hang, 7 runtime fault.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .defaults = &defaults,
    .config_bytes = sizeof defaults,
    .check = check,
};

void bench_cmdline_ignore(const struct bench_config *c)
{
  char asked[64] = "--parts";
  for (size_t p = 0, n = strlen(asked), first = n; p < PARTS; p++)
    if (c->parts & (int)parts[p].part)
      n += (size_t)sprintf(asked + n, "%c%s", n == first ? ' ' : ',', parts[p].name);
  option_ignore((unsigned)c->parts, asked);
}
