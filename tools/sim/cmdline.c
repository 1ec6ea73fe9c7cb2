/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/log.h"
#include "comm/halo/grid.h"
#include "tools/sim/sim.h"

#define CONFIG struct sim_config

static const struct option_spec options[] = {
    {"model", 0, OPTION_ALWAYS, OPTION_INPUT(model, "FILE"),
     "Read a document of himeno-predict: its fitted kernel times, latencies and bandwidths.",
     .group = "Problem"},
    {"size", 's', OPTION_ALWAYS, OPTION_CUSTOM(sizes, size_list_parse, "SIZE[,SIZE]"),
     "Simulate these sizes: XS, S, M, L, XL or IxJxK (default: L)."},
    {"ranks", 'n', OPTION_ALWAYS, OPTION_CUSTOM(ranks, rank_list_parse, "N[,N]"),
     "Simulate these numbers of ranks (default: 1,8,64)."},
    {"weak", 'w', OPTION_ALWAYS, OPTION_FLAG(weak),
     "Run a weak-scaling problem: every rank gets a grid of SIZE, so the whole grid grows with the "
     "number of ranks."},
    {"transport", 'x', OPTION_ALWAYS, OPTION_TEXT(transport, "TRANSPORT"),
     "Use this transport's latency and bandwidth (default: the first in the model)."},
    {GRID_OPTION_PROCS(OPTION_ALWAYS, "divides as himeno-gpu does")},
    {"per-host", 0, OPTION_ALWAYS, OPTION_INT(per_host, 1, 64, "N"),
     "Set the GPUs, and so the ranks, per host (default: 8).", .group = "Machine"},
    {"network", 0, SIM_MADE, OPTION_CUSTOM(between, between_parse, "MICROSECONDS,GB/S"),
     "Set the latency of a message and the bandwidth in each direction between two GPUs on different "
     "hosts, instead of the model's.",
     .old = "between"},
    {"platform", 0, SIM_GIVEN, OPTION_INPUT(platform, "FILE"),
     "Read the hosts and their network from a SimGrid XML file, instead of --network, --leaf and --taper. "
     "Each host has --per-host GPUs."},
    {"leaf", 0, SIM_MADE, OPTION_INT(leaf, 1, 256, "N"),
     "Set the hosts per switch of the fat tree (default: 16)."},
    {"taper", 0, SIM_MADE, OPTION_REAL(taper, 0.1, 100, "FACTOR"),
     "Divide each leaf switch's uplink bandwidth by FACTOR. 1: no oversubscription; 4: a 4:1 tree "
     "(default: 1)."},
    {"passes", 0, OPTION_ALWAYS, OPTION_INT(passes, 1, 10000, "N"),
     "Simulate N passes; a pass is one read of memory, for one sweep or several (default: 20)."},
    {"keep-files", 0, OPTION_ALWAYS, OPTION_TEXT(keep, "FOLDER"),
     "Keep the files of the simulation in FOLDER.", .old = "keep", .group = "Result"},
    {OPTION_JSON(OPTION_ALWAYS, NULL, " himeno-predict --against reads it.")},
    {OPTION_QUIET},
};

static const struct sim_config defaults = {.per_host = 8, .leaf = 16, .taper = 1, .passes = 20};

static status_t sim_options_check(void *config)
{
  struct sim_config *c = config;
  if (!c->model) return log_fail(STATUS_USAGE, "--model is missing: himeno-predict --json writes one");
  if (c->sizes.n == 0) c->sizes.list[c->sizes.n++] = *grid_size_named(3);
  if (c->ranks.n == 0) c->ranks = (struct rank_list){3, {1, 8, 64}};
  return STATUS_OK;
}

const struct option_program sim_options = {
    .name = "himeno-sim",
    .summary = "Simulate himeno-gpu's halo exchange on thousands of ranks with SimGrid",
    .usage = "--model FILE [OPTION]...",
    .epilogue = "Examples:\n"
                "  himeno-predict --study runs --comm paths.json --json model.json\n"
                "      the model that the following commands read\n"
                "  himeno-sim --model model.json -s L,XL -n 1,8,64,512,4096 --json sim.json\n"
                "      two sizes on up to 4096 ranks\n"
                "  himeno-predict --model model.json --against sim.json --within 10\n"
                "      predictions compared with that simulation\n"
                "  himeno-sim --model model.json -s XL -n 1024 --taper 4\n"
                "      a network with a quarter of the uplinks\n"
                "  himeno-sim --model model.json -s XL -n 1024 --platform cluster.xml\n"
                "      a network described in SimGrid's format\n"
                "\n"
                "Exit status: 0 done; 2 wrong option; 3 SimGrid or memory missing, or unreadable file;\n"
                "7 runtime fault; 8 ended by a signal.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .defaults = &defaults,
    .config_bytes = sizeof defaults,
    .check = sim_options_check,
};
