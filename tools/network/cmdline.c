/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/network/cmdline.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/values.h"
#include "comm/ranks/options.h"
#include "gpu/device_options.h"

#define AT(field)    offsetof(struct bench_config, field)
#define GIVEN(field) (offsetof(struct bench_config, field) + 1)

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
  *chosen = 0;
  for (const char *rest = text; rest; rest = strchr(rest, ',') ? strchr(rest, ',') + 1 : NULL) {
    size_t length = strcspn(rest, ","), p = 0;
    while (p < PARTS && (strlen(parts[p].name) != length || strncmp(parts[p].name, rest, length) != 0)) p++;
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
    {.name = "parts",
     .readers = BENCH_ALL,
     .type = OPTION_CUSTOM,
     .parse = parse_parts,
     .offset = AT(parts),
     .metavar = "LIST",
     .group = "What",
     .help = "Any of host, pairs, halo, allreduce, with commas between. Default: all."},
    {.name = "transport",
     .readers = BENCH_PAIRS | BENCH_HALO,
     .letter = 'x',
     .type = OPTION_CUSTOM,
     .parse = parse_transport,
     .offset = AT(transport),
     .metavar = "all|TRANSPORT",
     .help = "Only this way between devices; --list shows them."},
    {.name = "min",
     .readers = BENCH_HOST | BENCH_PAIRS,
     .type = OPTION_CUSTOM,
     .parse = parse_bytes,
     .offset = AT(min_bytes),
     .metavar = "BYTES",
     .help = "Smallest transfer (default 8)."},
    {.name = "max",
     .readers = BENCH_HOST | BENCH_PAIRS | BENCH_REDUCE,
     .type = OPTION_CUSTOM,
     .parse = parse_bytes,
     .offset = AT(max_bytes),
     .given = GIVEN(max_given),
     .metavar = "BYTES",
     .help = "Largest transfer, with K, M or G. Default: 256M on a GPU, 16M on a CPU, less where memory is."},
    {.name = "step",
     .readers = BENCH_HOST | BENCH_PAIRS | BENCH_REDUCE,
     .type = OPTION_INT,
     .min = 2,
     .max = 1024,
     .offset = AT(step),
     .metavar = "N",
     .help = "From one size to the next (default 4)."},
    {.name = "samples",
     .readers = BENCH_ALL,
     .type = OPTION_INT,
     .min = 1,
     .max = BENCH_SAMPLES_MAX,
     .offset = AT(samples),
     .metavar = "N",
     .help = "Batches a point (default 7); their median counts."},
    {.name = "size",
     .readers = BENCH_HALO,
     .letter = 's',
     .type = OPTION_CUSTOM,
     .parse = grid_size_parse,
     .offset = AT(size),
     .given = GIVEN(size_given),
     .metavar = "SIZE",
     .group = "The halo part",
     .help = "XS, S, M, L, XL or IxJxK valid extents. Default: L on a GPU, M on a CPU."},
    {.name = "weak",
     .readers = BENCH_HALO,
     .letter = 'w',
     .type = OPTION_FLAG,
     .offset = AT(weak),
     .help = "Every rank gets the interior of SIZE."},
    RANKS_OPTION_PROCS(BENCH_HALO),
    {.name = "depth",
     .readers = BENCH_HALO,
     .type = OPTION_INT,
     .min = 1,
     .max = 8,
     .offset = AT(depth),
     .metavar = "T",
     .help = "Layers of a halo: the T of a temporal kernel (default 1)."},
    {.name = "backend",
     .readers = BENCH_ALL,
     .letter = 'b',
     .type = OPTION_CUSTOM,
     .parse = gpu_backend_parse,
     .offset = AT(backend),
     .metavar = "NAME",
     .group = "Where",
     .help = "auto, cuda, opencl, cpu, or null (a test device). auto takes CUDA, then a GPU by OpenCL, then "
             "the CPU."},
    DEVICE_OPTION_DEVICE(BENCH_ALL),
    DEVICE_OPTION_BIND(BENCH_ALL),
    RANKS_OPTION_TIMEOUT(BENCH_ALL),
    OPTION_JSON(BENCH_ALL, "Result", " himeno-predict reads it, and scripts/plot draws it."),
    {.name = "list",
     .readers = OPTION_ALWAYS,
     .type = OPTION_FLAG,
     .offset = AT(list),
     .help = "Show devices, transports and network cards, with the reason where one is missing, and end."},
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
    .usage = "[OPTION]...",
    .epilogue = "Examples:\n"
                "  mpirun -np 8 comm-gpu --json paths.json      every path of eight devices\n"
                "  mpirun -np 4 comm-gpu --parts halo -s XL     the halo exchange of XL over four\n"
                "  comm-gpu --parts host                        host and device only\n"
                "\n"
                "Environment, for tests:\n"
                "  HIMENO_SYSFS=FOLDER        network cards are read from there and not from /sys\n"
                "  HIMENO_BENCH_CORRUPT=N     each rank damages what arrives in its Nth transfer\n"
                "\n"
                "Exit status: 0 pass, 2 usage, 3 environment (no such device, library, too little memory), 4 "
                "content that "
                "arrived changed,\n"
                "6 hang, 7 runtime fault.\n",
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
