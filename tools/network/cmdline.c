/* SPDX-License-Identifier: MIT */
#include "tools/network/cmdline.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/values.h"
#include "comm/halo/grid.h"
#include "comm/ranks/options.h"
#include "gpu/device_options.h"

#define CONFIG struct bench_config

#define MOST_BYTES ((uint64_t)1 << 32)
#define WORD_BYTES 8

const char *const bench_part_names[BENCH_PARTS] = {"host",  "pairs", "halo",        "allreduce",
                                                   "wires", "peers", "collectives", "fabric"};

static status_t parse_bytes(const char *option, const char *text, void *field)
{
  uint64_t bytes;
  if (value_read_bytes(text, &bytes) != STATUS_OK || !bytes || bytes > MOST_BYTES || bytes % WORD_BYTES)
    return log_fail(STATUS_USAGE, "%s %s: must be 8 to 4G bytes, a multiple of 8, such as 64K", option, text);
  *(int64_t *)field = (int64_t)bytes;
  return STATUS_OK;
}

static status_t parse_parts(const char *option, const char *text, void *field)
{
  int *chosen = field;
  char word[16];
  *chosen = 0;
  for (const char *rest = text; rest;) {
    int p = 0;
    rest = value_next(rest, ',', word, sizeof word);
    while (p < BENCH_PARTS && strcmp(bench_part_names[p], word) != 0) p++;
    if (p == BENCH_PARTS)
      return log_fail(STATUS_USAGE,
                      "%s %s: must be host, pairs, halo, allreduce, wires, peers, collectives or "
                      "fabric, or several separated by commas",
                      option, text);
    *chosen |= 1 << p;
  }
  return STATUS_OK;
}

static status_t comm_parse_transport(const char *option, const char *text, void *field)
{
  const struct halo_transport **transport = field;
  *transport = strcmp(text, "all") == 0 ? NULL : halo_transport_find(text);
  return *transport || strcmp(text, "all") == 0 ? STATUS_OK : halo_transport_check(option, text);
}

static const struct option_spec options[] = {
    {"parts", 0, BENCH_ALL, OPTION_CUSTOM(parts, parse_parts, "LIST"),
     "Measure these parts: host (copies to and from each device), pairs (of devices), halo (exchange), "
     "allreduce, wires (each network card between two hosts; allows no other part), peers "
     "(proves that devices of a host reach each other's memory), collectives (in device memory, on GPUs by "
     "NCCL), fabric (streams between hosts: one host sends, then all send at once); separated by commas "
     "(default: host,pairs,halo,allreduce).",
     .group = "What"},
    {"transport", 'x', BENCH_PAIRS | BENCH_HALO,
     OPTION_CUSTOM(transport, comm_parse_transport, "all|TRANSPORT"),
     "Use only this transport for parts pairs and halo; see --list (default: all)."},
    {"min", 0, BENCH_HOST | BENCH_PAIRS, OPTION_CUSTOM(min_bytes, parse_bytes, "BYTES"),
     "Set the smallest transfer in bytes, such as 4K (default: 8)."},
    {"max", 0, BENCH_ALL & ~(BENCH_HALO | BENCH_PEERS), OPTION_CUSTOM(max_bytes, parse_bytes, "BYTES"),
     "Set the largest transfer in bytes, such as 1G; 1K is 1024 (default: 256M on a GPU, 16M on a CPU, "
     "less if memory is short).",
     .given = OPTION_GIVEN(max_given)},
    {"step", 0, BENCH_HOST | BENCH_PAIRS | BENCH_REDUCE | BENCH_COLLECTIVES, OPTION_INT(step, 2, 1024, "N"),
     "Set the factor between successive transfer sizes (default: 4)."},
    {"samples", 0, BENCH_ALL, OPTION_INT(samples, 1, BENCH_SAMPLES_MAX, "N"),
     "Measure each size N times and report the median. Noisy sizes are measured more often if --time "
     "allows. If --time is short, three measurements suffice (default: 7)."},
    {"time", 't', BENCH_ALL, OPTION_TIME(seconds, 0, 1e7, "DURATION"),
     "Share this time among the parts, and leave out sizes that would exceed it; 0: every size, --samples "
     "times each, however long it takes (default: 30s, with more than 8 ranks 1m).",
     .given = OPTION_GIVEN(seconds_given)},
    {"size", 's', BENCH_HALO, OPTION_CUSTOM(size, grid_size_parse, "SIZE"),
     "Set the grid, as in himeno-gpu: XS (32x32x64) to XL or IxJxK points (default: L on a GPU, M on a "
     "CPU).",
     .group = "The halo part", .given = OPTION_GIVEN(size_given)},
    {"weak", 'w', BENCH_HALO, OPTION_FLAG(weak),
     "Run a weak-scaling problem: every rank gets a grid of SIZE, so the whole grid grows with the "
     "number of ranks."},
    {GRID_OPTION_PROCS(BENCH_HALO, "minimises the estimated time of halo exchange")},
    {"depth", 0, BENCH_HALO, OPTION_INT(depth, 1, 8, "T"),
     "Set the depth of the halo in layers of points. A kernel that updates all points T times per read of "
     "memory needs T (default: 1)."},
    {"backend", 'b', OPTION_LISTED | BENCH_ALL, OPTION_CUSTOM(backend, gpu_backend_parse, "NAME"),
     "Select the backend: auto, cuda, opencl, cpu or null (for tests of this program). auto takes CUDA, "
     "then a GPU by OpenCL, then the CPU (default: auto).",
     .group = "Where"},
    {DEVICE_OPTION_DEVICE(BENCH_ALL)},
    {DEVICE_OPTION_BIND(BENCH_ALL)},
    {RANKS_OPTION_TIMEOUT(BENCH_ALL)},
    {OPTION_JSON(BENCH_ALL, "Result", " himeno-predict and plots read it.")},
    {OPTION_QUIET},
    {OPTION_LIST("devices, transports and network cards")},
};

static const struct bench_config defaults = {.parts = BENCH_STANDARD,
                                             .min_bytes = WORD_BYTES,
                                             .step = 4,
                                             .samples = 7,
                                             .depth = 1,
                                             .timeout = WATCH_SECONDS};

static status_t comm_options_check(void *config)
{
  struct bench_config *c = config;
  if (c->parts & BENCH_WIRES && c->parts != BENCH_WIRES)
    return log_fail(STATUS_USAGE,
                    "--parts wires: no other part, since each rank is bound to one network card");
  if (c->parts & BENCH_WIRES) bench_wires_bind();
  if (!c->max_given || c->max_bytes >= c->min_bytes) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--max %lld is below --min %lld", (long long)c->max_bytes,
                  (long long)c->min_bytes);
}

const struct option_program bench_options = {
    .name = "comm-gpu",
    .summary = "Measure latency and bandwidth: host to GPU, GPU to GPU, halo exchange and allreduce",
    .epilogue = "Examples:\n"
                "  mpirun -np 8 comm-gpu --json paths.json      the default parts on eight devices\n"
                "  mpirun -np 4 comm-gpu --parts halo -s XL     the halo exchange of XL on four devices\n"
                "  comm-gpu --parts host                        copies between the host and one device\n"
                "  mpirun -np 16 --map-by ppr:8:node comm-gpu --parts wires   two hosts, 8 cards each\n"
                "\n"
                "Environment, for tests:\n"
                "  HIMENO_SYSFS=FOLDER        read network cards from FOLDER instead of /sys\n"
                "  HIMENO_BENCH_CORRUPT=N     corrupt what each rank receives in its Nth "
                "transfer\n",
    .exits = "4 wrong data\nreceived; 6 hang; 7 runtime fault (CUDA, OpenCL or MPI).",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .defaults = &defaults,
    .config_bytes = sizeof defaults,
    .check = comm_options_check,
};

void bench_cmdline_ignore(const struct bench_config *c)
{
  char asked[64] = "--parts";
  size_t n = strlen(asked);
  for (int p = 0, named = 0; p < BENCH_PARTS; p++)
    if (c->parts & 1 << p) n += (size_t)sprintf(asked + n, "%c%s", named++ ? ',' : ' ', bench_part_names[p]);
  option_ignore((unsigned)c->parts, asked);
}
