/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>

#include "base/log.h"
#include "tools/sim/sim.h"

#define AT(field) offsetof(struct sim_config, field)

static const struct option_spec options[] = {
    {.name = "model",
     .readers = OPTION_ALWAYS,
     .type = OPTION_TEXT,
     .file = OPTION_INPUT,
     .offset = AT(model),
     .metavar = "FILE",
     .group = "What is simulated",
     .help = "A document of himeno-predict: its fitted kernel times, latencies and bandwidths."},
    {.name = "size",
     .readers = OPTION_ALWAYS,
     .letter = 's',
     .type = OPTION_CUSTOM,
     .parse = size_list_parse,
     .offset = AT(sizes),
     .metavar = "SIZE[,SIZE]",
     .help = "XS, S, M, L, XL or IxJxK. Default: L."},
    {.name = "ranks",
     .readers = OPTION_ALWAYS,
     .letter = 'n',
     .type = OPTION_CUSTOM,
     .parse = rank_list_parse,
     .offset = AT(ranks),
     .metavar = "N[,N]",
     .help = "Numbers of ranks. Default: 1,8,64."},
    {.name = "weak",
     .readers = OPTION_ALWAYS,
     .letter = 'w',
     .type = OPTION_FLAG,
     .offset = AT(weak),
     .help = "Weak scaling: every rank gets the interior of SIZE."},
    {.name = "transport",
     .readers = OPTION_ALWAYS,
     .letter = 'x',
     .type = OPTION_TEXT,
     .offset = AT(transport),
     .metavar = "TRANSPORT",
     .help = "Whose latency and bandwidth messages have. Default: the model's first."},
    {.name = "procs",
     .readers = OPTION_ALWAYS,
     .letter = 'p',
     .type = OPTION_CUSTOM,
     .parse = grid_procs_parse,
     .offset = AT(procs),
     .metavar = "auto|PxQxR",
     .help = "Ranks along i, j and k. auto is himeno-gpu's own choice."},
    {.name = "per-host",
     .readers = OPTION_ALWAYS,
     .type = OPTION_INT,
     .min = 1,
     .max = 64,
     .offset = AT(per_host),
     .metavar = "N",
     .group = "The machine",
     .help = "GPUs of a host (default 8)."},
    {.name = "network",
     .readers = OPTION_ALWAYS,
     .type = OPTION_CHOICE,
     .allowed = "fat-tree|dragonfly",
     .offset = AT(network),
     .metavar = "fat-tree|dragonfly",
     .help = "Between hosts."},
    {.name = "leaf",
     .readers = OPTION_ALWAYS,
     .type = OPTION_INT,
     .min = 1,
     .max = 256,
     .offset = AT(leaf),
     .metavar = "N",
     .help = "Hosts at a switch (default 16 in a fat tree, 4 in a dragonfly)."},
    {.name = "taper",
     .readers = OPTION_ALWAYS,
     .type = OPTION_REAL,
     .min = 0.1,
     .max = 100,
     .offset = AT(taper),
     .metavar = "FACTOR",
     .help = "Links between switches have so many times less bandwidth than all hosts below (default 1)."},
    {.name = "passes",
     .readers = OPTION_ALWAYS,
     .type = OPTION_INT,
     .min = 1,
     .max = 10000,
     .offset = AT(passes),
     .metavar = "N",
     .help = "Timed passes (default 6)."},
    {.name = "timeout",
     .readers = OPTION_ALWAYS,
     .type = OPTION_REAL,
     .min = 0.1,
     .max = 1e6,
     .offset = AT(timeout),
     .metavar = "SECONDS",
     .help =
         "Longest wait for a simulation that computes nothing, as one that was stopped (default 60). Past "
         "it the program ends with exit status 6."},
    {.name = "keep",
     .readers = OPTION_ALWAYS,
     .type = OPTION_TEXT,
     .offset = AT(keep),
     .metavar = "FOLDER",
     .group = "Result",
     .help = "Keep platform and host files there."},
    OPTION_JSON(OPTION_ALWAYS, NULL, " himeno-predict --against reads it."),
};

static void defaults_fill(struct sim_config *c)
{
  if (c->sizes.n == 0) c->sizes.list[c->sizes.n++] = *grid_size_named(3);
  if (c->ranks.n == 0) c->ranks = (struct rank_list){3, {1, 8, 64}};
  if (c->per_host == 0) c->per_host = 8;
  if (c->leaf == 0) c->leaf = c->network == NETWORK_FAT_TREE ? 16 : 4;
  if (c->taper == 0) c->taper = 1;
  if (c->passes == 0) c->passes = 6;
  if (c->timeout == 0) c->timeout = 60;
}

static status_t check(void *config)
{
  struct sim_config *c = config;
  if (!c->model) return log_fail(STATUS_USAGE, "--model is missing: himeno-predict --json writes one");
  defaults_fill(c);
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
                "  himeno-sim --model model.json -s XL -n 1024 --network dragonfly --taper 4\n"
                "\n"
                "Exit status: 0 done, 2 usage, 3 environment (files, SimGrid), 6 hang, 7 runtime fault.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .check = check,
};
