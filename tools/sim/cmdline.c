/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/log.h"
#include "comm/ranks/options.h"
#include "tools/sim/sim.h"

#define CONFIG struct sim_config

static const struct option_spec options[] = {
    {"model", 0, OPTION_ALWAYS, OPTION_INPUT(model, "FILE"),
     "A document of himeno-predict: its fitted kernel times, latencies and bandwidths.",
     .group = "What is simulated"},
    {"size", 's', OPTION_ALWAYS, OPTION_CUSTOM(sizes, size_list_parse, "SIZE[,SIZE]"),
     "XS, S, M, L, XL or IxJxK. Default: L."},
    {"ranks", 'n', OPTION_ALWAYS, OPTION_CUSTOM(ranks, rank_list_parse, "N[,N]"),
     "Numbers of ranks. Default: 1,8,64."},
    {"weak", 'w', OPTION_ALWAYS, OPTION_FLAG(weak), "Weak scaling: every rank gets the interior of SIZE."},
    {"transport", 'x', OPTION_ALWAYS, OPTION_TEXT(transport, "TRANSPORT"),
     "Whose latency and bandwidth messages have. Default: the model's first."},
    {RANKS_OPTION_PROCS(OPTION_ALWAYS, "is himeno-gpu's own choice.")},
    {"per-host", 0, OPTION_ALWAYS, OPTION_INT(per_host, 1, 64, "N"), "GPUs of a host (default 8).",
     .group = "The machine"},
    {"between", 0, SIM_MADE, OPTION_CUSTOM(between, between_parse, "MICROSECONDS,GB/S"),
     "A message's latency and the bandwidth each way between two GPUs of different hosts, in place of the "
     "model's."},
    {"platform", 0, SIM_GIVEN, OPTION_INPUT(platform, "FILE"),
     "The hosts and the network between them, as SimGrid's own XML; each host holds --per-host GPUs. In "
     "place of what --between, --leaf and --taper say."},
    {"leaf", 0, SIM_MADE, OPTION_INT(leaf, 1, 256, "N"),
     "Hosts at a switch of the fat tree between them (default 16)."},
    {"taper", 0, SIM_MADE, OPTION_REAL(taper, 0.1, 100, "FACTOR"),
     "Links between switches have so many times less bandwidth than all hosts below (default 1)."},
    {"passes", 0, OPTION_ALWAYS, OPTION_INT(passes, 1, 10000, "N"), "Timed passes (default 20)."},
    {"keep", 0, OPTION_ALWAYS, OPTION_TEXT(keep, "FOLDER"), "Keep the files of the simulation there.",
     .group = "Result"},
    {OPTION_JSON(OPTION_ALWAYS, NULL, " himeno-predict --against reads it.")},
};

static const struct sim_config defaults = {.per_host = 8, .leaf = 16, .taper = 1, .passes = 20};

static status_t check(void *config)
{
  struct sim_config *c = config;
  if (!c->model) return log_fail(STATUS_USAGE, "--model is missing: himeno-predict --json writes one");
  if (c->sizes.n == 0) c->sizes.list[c->sizes.n++] = *grid_size_named(3);
  if (c->ranks.n == 0) c->ranks = (struct rank_list){3, {1, 8, 64}};
  return STATUS_OK;
}

const struct option_program sim_options = {
    .name = "himeno-sim",
    .summary = "himeno-gpu's halo exchange at thousands of ranks, simulated by SimGrid",
    .usage = "--model FILE [OPTION]...",
    .epilogue = "Examples:\n"
                "  himeno-predict --study runs --comm paths.json --json model.json\n"
                "  himeno-sim --model model.json -s L,XL -n 1,8,64,512,4096 --json sim.json\n"
                "  himeno-predict --model model.json --against sim.json --within 10\n"
                "  himeno-sim --model model.json -s XL -n 1024 --taper 4\n"
                "  himeno-sim --model model.json -s XL -n 1024 --platform cluster.xml\n"
                "\n"
                "Exit status: 0 done, 2 usage, 3 environment (files, SimGrid), 7 runtime fault,\n8 "
                "stopped by a signal.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .defaults = &defaults,
    .config_bytes = sizeof defaults,
    .check = check,
};
