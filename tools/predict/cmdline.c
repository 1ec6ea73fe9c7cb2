/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tools/predict/predict.h"

#define CONFIG struct predict_config

/* What reads an option. */
enum { STUDY = 1, MODEL = 2, PREDICTION = STUDY | MODEL, CHECK = 4 };

static const struct option_spec options[] = {
    {"study", 0, PREDICTION, OPTION_INPUT(study, "FOLDER"),
     "JSON documents of himeno-gpu, or of gemm-gpu with one product over all ranks, a run each: one rank "
     "and more, small and large sizes. Or a FILE.jsonl of them: lines with \"name\" and \"document\".",
     .group = "What was measured"},
    {"comm", 0, PREDICTION, OPTION_INPUT(comm, "FILE"), "The JSON document of comm-gpu."},
    {"model", 0, PREDICTION, OPTION_INPUT(model, "FILE"),
     "Instead of both: the model in an earlier document of himeno-predict."},
    {"kernel", 'k', OPTION_ALWAYS, OPTION_TEXT(kernel, "KERNEL"),
     "Runs of this kernel. Default: the kernel, backend and device of most runs."},
    {"fit-ranks", 0, STUDY, OPTION_INT(fit_ranks, 1, LIST_RANKS_TOP, "N"),
     "Fit only runs of at most N ranks."},
    {"keep", 0, STUDY, OPTION_CUSTOM(keep, study_keep_parse, "WHAT[,WHAT]"),
     "Fit also what is left out: duplicates, runs on other machines than most, unverified ones, outliers "
     "(duplicates|machines|unverified|outliers)."},
    {"size", 's', PREDICTION, OPTION_CUSTOM(sizes, any_size_list_parse, "SIZE[,SIZE]"),
     "XS, S, M, L, XL or IxJxK; of gemm-gpu N or MxNxK. Default: the sizes of the study.",
     .group = "What is predicted"},
    {"ranks", 'n', PREDICTION, OPTION_CUSTOM(ranks, rank_list_parse, "N[,N]"),
     "Numbers of ranks. Default: 1, 2, 4 and so on, up to twice the study's most."},
    {"scaling", 0, PREDICTION, OPTION_CHOICE(scaling, "both|strong|weak"),
     "Strong: SIZE is the whole. Weak: SIZE is a rank's."},
    {"transport", 'x', PREDICTION, OPTION_TEXT(transport, "TRANSPORT"),
     "Only this way between neighbours. Default: all of the study."},
    {"procs", 'p', PREDICTION, OPTION_CUSTOM(procs, any_cut_parse, "auto|PxQxR|PxQ"),
     "Ranks along each dimension, of gemm-gpu along m and n; auto is the program's own choice."},
    {"per-host", 0, PREDICTION, OPTION_INT(per_host, 1, LIST_RANKS_TOP, "N"),
     "Ranks of a host. Default: as in the study; where that has one host, twice the study's most."},
    {"between", 0, PREDICTION, OPTION_CUSTOM(between, between_parse, "MICROSECONDS,GB/S"),
     "A message's latency and the bandwidth each way between two GPUs of different hosts, in place of what "
     "comm-gpu measured."},
    {"sweeps-a-pass", 0, PREDICTION, OPTION_INT(sweeps_a_pass, 1, 64, "N"),
     "What if a kernel made N sweeps a pass, with halos N deep; what it gains on one rank is "
     "--compute-time."},
    {"compute-time", 0, PREDICTION, OPTION_REAL(scale.compute, 1e-6, 1e6, "FACTOR"),
     "What if computing took this many times as long (0.1: ten times as fast)."},
    {"exchange-time", 0, PREDICTION, OPTION_REAL(scale.exchange, 1e-6, 1e6, "FACTOR"),
     "What if latencies and bytes took this many times as long."},
    {"against", 0, OPTION_ALWAYS, OPTION_INPUT(against, "PATH"),
     "Set the model against these runs too, of a folder or a file: measured, or simulated by himeno-sim.",
     .group = "Prediction and measurement"},
    {"within", 0, OPTION_ALWAYS, OPTION_REAL(within, 0.01, 1000, "PERCENT"),
     "Exit status 5 when an error against them is larger."},
    {"check", 0, CHECK, OPTION_INPUT(check, "FILE"),
     "Compare the predictions in an earlier document of --json with the runs of --against."},
    {OPTION_JSON(PREDICTION, "Result", "")},
    {OPTION_QUIET},
};

static status_t needs_check(const struct predict_config *c)
{
  if (c->check)
    return c->against ? STATUS_OK : log_fail(STATUS_USAGE, "--check needs the runs: --against PATH");
  if (c->within > 0 && !c->against) return log_fail(STATUS_USAGE, "--within needs runs: --against PATH");
  if (c->model || (c->study && c->comm)) return STATUS_OK;
  return log_fail(STATUS_USAGE,
                  c->study ? "the paths between devices are missing: give --comm FILE, which "
                             "`mpirun -np N comm-gpu --json FILE` writes, or --model FILE"
                           : "the measured runs are missing: give --study FOLDER and --comm FILE, or "
                             "--model FILE");
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
    {"check", "study|comm|model|json"}, {"model", "study|comm"}, {NULL}};

const struct option_program predict_options = {
    .name = "himeno-predict",
    .summary = "Predicts how himeno-gpu, or one product of gemm-gpu, scales, with an interval, from a "
               "measured study",
    .usage = "--study FOLDER --comm FILE [OPTION]...",
    .epilogue = "Examples:\n"
                "  himeno-predict --study runs --comm paths.json               what the study says of twice "
                "the ranks\n"
                "  himeno-predict --study runs --comm paths.json -s XL -n 64 --per-host 8 --between 5,20\n"
                "  himeno-predict --study runs --comm paths.json --fit-ranks 4 -n 8 --json eight.json\n"
                "  himeno-predict --check eight.json --against later --within 10\n"
                "\n"
                "Exit status: 0 done, 2 usage, 3 environment (files, or too little to predict from: the "
                "message says what to measure),\n"
                "5 an error beyond --within, 7 runtime fault.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .defaults = &defaults,
    .config_bytes = sizeof defaults,
    .check = check,
    .exclusive = exclusive,
};
