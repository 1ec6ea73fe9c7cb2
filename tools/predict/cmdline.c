/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tools/predict/predict.h"

#define AT(field) offsetof(struct predict_config, field)

/* What reads an option. */
enum { STUDY = 1, MODEL = 2, PREDICTION = STUDY | MODEL, CHECK = 4 };

static const struct option_spec options[] = {
    {.name = "study",
     .readers = PREDICTION,
     .type = OPTION_TEXT,
     .file = OPTION_INPUT,
     .offset = AT(study),
     .metavar = "FOLDER",
     .group = "What was measured",
     .help = "JSON documents of himeno-gpu, a run each: one rank and more, small and large sizes."},
    {.name = "comm",
     .readers = PREDICTION,
     .type = OPTION_TEXT,
     .file = OPTION_INPUT,
     .offset = AT(comm),
     .metavar = "FILE",
     .help = "The JSON document of comm-gpu."},
    {.name = "model",
     .readers = PREDICTION,
     .type = OPTION_TEXT,
     .file = OPTION_INPUT,
     .offset = AT(model),
     .metavar = "FILE",
     .help = "Instead of both: the model in an earlier document of himeno-predict."},
    {.name = "kernel",
     .readers = OPTION_ALWAYS,
     .letter = 'k',
     .type = OPTION_TEXT,
     .offset = AT(kernel),
     .metavar = "KERNEL",
     .help = "Runs of this kernel. Default: the kernel, backend and device of most runs."},
    {.name = "fit-ranks",
     .readers = STUDY,
     .type = OPTION_INT,
     .min = 1,
     .max = LIST_RANKS_TOP,
     .offset = AT(fit_ranks),
     .metavar = "N",
     .help = "Fit only runs of at most N ranks."},
    {.name = "size",
     .readers = PREDICTION,
     .letter = 's',
     .type = OPTION_CUSTOM,
     .parse = size_list_parse,
     .offset = AT(sizes),
     .metavar = "SIZE[,SIZE]",
     .group = "What is predicted",
     .help = "XS, S, M, L, XL or IxJxK. Default: the sizes of the study."},
    {.name = "ranks",
     .readers = PREDICTION,
     .letter = 'n',
     .type = OPTION_CUSTOM,
     .parse = rank_list_parse,
     .offset = AT(ranks),
     .metavar = "N[,N]",
     .help = "Numbers of ranks. Default: 1, 2, 4 and so on, up to twice the study's most."},
    {.name = "scaling",
     .readers = PREDICTION,
     .type = OPTION_CHOICE,
     .allowed = "both|strong|weak",
     .offset = AT(scaling),
     .metavar = "both|strong|weak",
     .help = "Strong: SIZE is the whole grid. Weak: SIZE is a rank's."},
    {.name = "transport",
     .readers = PREDICTION,
     .letter = 'x',
     .type = OPTION_TEXT,
     .offset = AT(transport),
     .metavar = "TRANSPORT",
     .help = "Only this way between neighbours. Default: all of the study."},
    {.name = "procs",
     .readers = PREDICTION,
     .letter = 'p',
     .type = OPTION_CUSTOM,
     .parse = grid_procs_parse,
     .offset = AT(procs),
     .metavar = "auto|PxQxR",
     .help = "Ranks along i, j and k. auto is himeno-gpu's own choice."},
    {.name = "per-host",
     .readers = PREDICTION,
     .type = OPTION_INT,
     .min = 1,
     .max = LIST_RANKS_TOP,
     .offset = AT(per_host),
     .metavar = "N",
     .help = "Ranks of a host. Default: as in the study."},
    {.name = "compute-time",
     .readers = PREDICTION,
     .type = OPTION_REAL,
     .min = 1e-6,
     .max = 1e6,
     .offset = AT(scale.compute),
     .metavar = "FACTOR",
     .help = "What if computing took this many times as long (0.1: ten times as fast)."},
    {.name = "exchange-time",
     .readers = PREDICTION,
     .type = OPTION_REAL,
     .min = 1e-6,
     .max = 1e6,
     .offset = AT(scale.exchange),
     .metavar = "FACTOR",
     .help = "What if latencies and bytes took this many times as long."},
    {.name = "against",
     .readers = OPTION_ALWAYS,
     .type = OPTION_TEXT,
     .file = OPTION_INPUT,
     .offset = AT(against),
     .metavar = "PATH",
     .group = "Prediction and measurement",
     .help = "Set the model against these runs too, of a folder or a file: measured, or simulated by "
             "himeno-sim."},
    {.name = "within",
     .readers = OPTION_ALWAYS,
     .type = OPTION_REAL,
     .min = 0.01,
     .max = 1000,
     .offset = AT(within),
     .metavar = "PERCENT",
     .help = "Exit status 5 when an error against them is larger."},
    {.name = "seal",
     .readers = PREDICTION,
     .type = OPTION_TEXT,
     .file = OPTION_OUTPUT,
     .offset = AT(seal),
     .metavar = "FILE",
     .help = "Write the predictions with a hash of them, before the runs; note the hash that is printed."},
    {.name = "check",
     .readers = CHECK,
     .type = OPTION_TEXT,
     .file = OPTION_INPUT,
     .offset = AT(check),
     .metavar = "FILE",
     .help = "Open sealed predictions and set them beside the runs of --against."},
    {.name = "hash",
     .readers = CHECK,
     .type = OPTION_TEXT,
     .offset = AT(hash),
     .metavar = "HEX",
     .help = "With --check: the hash that was noted."},
    OPTION_JSON(PREDICTION, "Result", ""),
};

static status_t needs_check(const struct predict_config *c)
{
  if (c->check)
    return c->against ? STATUS_OK : log_fail(STATUS_USAGE, "--check needs the runs: --against PATH");
  if (c->hash) return log_fail(STATUS_USAGE, "--hash belongs to --check");
  if (c->within > 0 && !c->against) return log_fail(STATUS_USAGE, "--within needs runs: --against PATH");
  if (c->model || (c->study && c->comm)) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s is missing: give --study FOLDER and --comm FILE, or --model FILE",
                  c->study ? "--comm" : "--study");
}

static const struct predict_config defaults = {.scale = {1, 1}};

static status_t check(void *config)
{
  struct predict_config *c = config;
  RETURN_IF_FAILED(needs_check(c));
  option_ignore(c->check   ? CHECK
                : c->model ? MODEL
                           : STUDY,
                c->check   ? "--check"
                : c->model ? "--model"
                           : "--study");
  return STATUS_OK;
}

static const struct option_pair exclusive[] = {
    {"check", "study"}, {"check", "comm"},  {"check", "model"}, {"check", "seal"},
    {"check", "json"},  {"model", "study"}, {"model", "comm"},  {NULL}};

const struct option_program predict_options = {
    .name = "himeno-predict",
    .summary = "Predicts how himeno-gpu scales, with an interval, from a measured study",
    .usage = "--study FOLDER --comm FILE [OPTION]...",
    .epilogue = "Examples:\n"
                "  himeno-predict --study runs --comm paths.json               what the study says of twice "
                "the ranks\n"
                "  himeno-predict --study runs --comm paths.json -s XL -n 64 --per-host 8\n"
                "  himeno-predict --study runs --comm paths.json --fit-ranks 4 -n 8 --seal eight.json\n"
                "  himeno-predict --check eight.json --against later --within 10\n"
                "\n"
                "Exit status: 0 done, 2 usage, 3 environment (files, or too little to predict from: the "
                "message says what to measure),\n"
                "4 a broken seal, 5 an error beyond --within, 7 runtime fault.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .defaults = &defaults,
    .config_bytes = sizeof defaults,
    .check = check,
    .exclusive = exclusive,
};
