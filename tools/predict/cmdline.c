/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tools/predict/predict.h"

#define CONFIG struct predict_config

/* Modes that read an option. */
enum { STUDY = 1, MODEL = 2, PREDICTION = STUDY | MODEL, CHECK = 4 };

static const struct option_spec options[] = {
    {"study", 0, PREDICTION, OPTION_INPUT(study, "FOLDER"),
     "Read measured runs: from the runs/ folder of a scaling study, or JSON documents of "
     "himeno-gpu or gemm-gpu --distributed, one per run, or a FILE.jsonl with a run's {\"name\", "
     "\"document\"} per line. Include one and several ranks, small and large sizes.",
     .group = "What was measured"},
    {"comm", 0, PREDICTION, OPTION_INPUT(comm, "FILE"),
     "Read latencies and bandwidths from a JSON document of comm-gpu."},
    {"model", 0, PREDICTION, OPTION_INPUT(model, "FILE"),
     "Use the model in an earlier document of himeno-predict, instead of --study and --comm."},
    {"kernel", 'k', OPTION_ALWAYS, OPTION_TEXT(kernel, "KERNEL"),
     "Use only runs of this kernel (default: the most frequent combination of kernel, backend and device)."},
    {"fit-ranks", 0, STUDY, OPTION_INT(fit_ranks, 1, LIST_RANKS_TOP, "N"),
     "Fit the model only to runs with at most N ranks."},
    {"include", 0, STUDY, OPTION_CUSTOM(keep, study_keep_parse, "WHAT[,WHAT]"),
     "Also use runs that are normally ignored. WHAT: duplicates (a second copy of a document), "
     "machines (runs on other machines than most), unverified or outliers.",
     .old = "keep"},
    {"size", 's', PREDICTION, OPTION_CUSTOM(sizes, any_size_list_parse, "SIZE[,SIZE]"),
     "Predict these sizes: XS, S, M, L, XL or IxJxK; for gemm-gpu N or MxNxK (default: the sizes of the "
     "study).",
     .group = "What is predicted"},
    {"ranks", 'n', PREDICTION, OPTION_CUSTOM(ranks, rank_list_parse, "N[,N]"),
     "Predict these numbers of ranks (default: 1, 2, 4 and so on, up to twice the largest of the study)."},
    {"scaling", 0, PREDICTION, OPTION_CHOICE(scaling, "both|strong|weak"),
     "Select the scaling. strong: SIZE is the whole problem. weak: SIZE is that of each rank (default: "
     "both)."},
    {"transport", 'x', PREDICTION, OPTION_TEXT(transport, "TRANSPORT"),
     "Predict only for this transport (default: all transports in the study)."},
    {"procs", 'p', PREDICTION, OPTION_CUSTOM(procs, any_cut_parse, "auto|PxQxR|PxQ"),
     "Set the numbers of ranks along each dimension; for gemm-gpu along m and n. auto: as the program "
     "itself divides (default: auto)."},
    {"per-host", 0, PREDICTION, OPTION_INT(per_host, 1, LIST_RANKS_TOP, "N"),
     "Set the ranks per host (default: as in the study; for a study of one host, twice its largest number "
     "of ranks)."},
    {"per-memory", 0, PREDICTION, OPTION_INT(per_memory, 1, LIST_RANKS_TOP, "N"),
     "Set the ranks per memory (NUMA node of a CPU) or per device (default: the ranks of a host divided "
     "by its memories, as in the study)."},
    {"network", 0, PREDICTION, OPTION_CUSTOM(between, between_parse, "MICROSECONDS,GB/S"),
     "Set the latency of a message and the bandwidth in each direction between two GPUs on different "
     "hosts, instead of what comm-gpu measured.",
     .old = "between"},
    {"sweeps-per-pass", 0, PREDICTION, OPTION_INT(sweeps_a_pass, 1, 64, "N"),
     "Assume a kernel that does N sweeps (updates of all points) per pass (read of memory), with halos of "
     "N layers. Set its time, relative to the measured kernel's, by --compute-time.",
     .old = "sweeps-a-pass"},
    {"compute-time", 0, PREDICTION, OPTION_REAL(scale.compute, 1e-6, 1e6, "FACTOR"),
     "Multiply the time for computing by FACTOR (0.1: ten times as fast)."},
    {"exchange-time", 0, PREDICTION, OPTION_REAL(scale.exchange, 1e-6, 1e6, "FACTOR"),
     "Multiply the time for halo exchange by FACTOR (0.5: twice as fast)."},
    {"device-spread", 0, PREDICTION, OPTION_REAL(device_spread, 0, 100, "PERCENT"),
     "Set the standard deviation of device speeds, for more ranks than were measured: the slowest device "
     "sets the time (default: 0; for more hosts than were measured, the larger of two values: that of the "
     "study's GPUs and the usual one of their model)."},
    {"against", 0, OPTION_ALWAYS, OPTION_INPUT(against, "PATH"),
     "Compare the predictions with the measured runs in this folder or file.",
     .group = "Prediction and measurement"},
    {"within", 0, OPTION_ALWAYS, OPTION_REAL(within, 0.01, 1000, "PERCENT"),
     "With --against: end with exit status 5 if a prediction is off by more than PERCENT."},
    {"check", 0, CHECK, OPTION_INPUT(check, "FILE"),
     "With --against: compare the predictions stored in FILE, an earlier document of himeno-predict, "
     "instead of making new ones."},
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

static const struct predict_config defaults = {.scale = {1, 1}, .device_spread = -1};

static status_t predict_options_check(void *config)
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
    {"check", "study|comm|model|json"}, {"model", "study|comm"}, {0}};

const struct option_program predict_options = {
    .name = "himeno-predict",
    .summary =
        "Predict, with 90% intervals, how himeno-gpu or gemm-gpu --distributed scales, from measured runs",
    .usage = "--study FOLDER --comm FILE [OPTION]...\n"
             "  or:  himeno-predict --model FILE [OPTION]...\n"
             "  or:  himeno-predict --check FILE --against PATH [OPTION]...",
    .epilogue = "Examples:\n"
                "  himeno-predict --study runs --comm paths.json\n"
                "      predictions up to twice the measured ranks\n"
                "  himeno-predict --study runs --comm paths.json -s XL -n 64 --per-host 8 --network 5,20\n"
                "      8 hosts with a network of 5 us and 20 GB/s\n"
                "  himeno-predict --study runs --comm paths.json --fit-ranks 4 -n 8 --json eight.json\n"
                "      8 ranks from runs with up to 4\n"
                "  himeno-predict --check eight.json --against later --within 10\n"
                "      that prediction compared with runs that were measured later\n"
                "\n"
                "Exit status: 0 done; 2 wrong option; 3 unreadable file, missing memory, or too few runs "
                "(the message\n"
                "names what to measure); 5 poor predictions (a median error of left-out runs above 20%, or "
                "fewer than\n"
                "80% of them in their 90% intervals), or an error above --within; 7 runtime fault.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .defaults = &defaults,
    .config_bytes = sizeof defaults,
    .check = predict_options_check,
    .exclusive = exclusive,
};
