/* SPDX-License-Identifier: MIT */
#include "himeno/config/cmdline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "comm/halo/grid.h"
#include "comm/halo/transport.h"
#include "comm/ranks/options.h"
#include "comm/ranks/watch.h"
#include "gpu/device_options.h"
#include "himeno/kernels/kernels.h"

#define CONFIG struct himeno_config

/* Readers of an option, as bits: the modes, and the trials of kernels and transports. */
enum {
  PLAIN = 1,
  OFFICIAL = 2,
  LADDER = 4,
  SOAK = 8,
  RUN = PLAIN | OFFICIAL | LADDER | SOAK,
  TRIALS = 16,
};

static status_t himeno_parse_kernel(const char *option, const char *text, void *field)
{
  const char **kernel = field;
  *kernel = strcmp(text, "auto") == 0 ? NULL : text;
  struct value_guess guess = {.text = text};
  char meant[VALUE_TEXT_MAX];
  for (int b = 0; *kernel && gpu_backends[b]; b++) {
    const struct himeno_kernel_set *set = himeno_kernels_find(gpu_backends[b]->name);
    if (set && himeno_kernel_find(set, text)) return STATUS_OK;
    for (int k = 0; set && k < set->n; k++) value_guess(&guess, set->kernels[k].name);
  }
  return *kernel ? log_fail(STATUS_USAGE, "%s %s: no backend has such a kernel%s", option, text,
                            value_guess_text(&guess, "; --list shows them", meant))
                 : STATUS_OK;
}

static const struct option_spec options[] = {
    {"size", 's', RUN, OPTION_CUSTOM(size, grid_size_parse, "SIZE"),
     "Set the grid size: XS (32x32x64), S, M, L, XL (each twice as long in all dimensions as the previous "
     "one) or IxJxK points, of which K is contiguous in memory and I varies slowest (default: L on a GPU, "
     "M on a CPU, XS on the emulated QPU; smaller if memory is short).",
     .group = "Problem", .given = OPTION_GIVEN(size_given)},
    {"fill", 0, RUN, OPTION_REAL(fill, 1, 100, "PERCENT"),
     "Use the largest grid that fits in PERCENT of each device's free memory, instead of --size.",
     .given = OPTION_GIVEN(fill_given)},
    {"weak", 'w', RUN, OPTION_FLAG(weak),
     "Run a weak-scaling problem: every rank gets a grid of SIZE, so the whole grid grows with the "
     "number of ranks."},
    {"data", 0, PLAIN | LADDER | OFFICIAL, OPTION_CHOICE(data, "standard|dense"),
     "Select the input data. standard: the benchmark's own, in which many coefficients are 0 or 1. dense: "
     "pseudo-random values, so that every term of the stencil affects the result (default: standard)."},
    {DEVICE_OPTION_BACKEND(RUN)},
    {DEVICE_OPTION_DEVICE(RUN)},
    {"kernel", 'k', PLAIN | OFFICIAL | SOAK, OPTION_CUSTOM(kernel, himeno_parse_kernel, "auto|KERNEL"),
     "Select the compute kernel; --list shows them. auto times several for this device, size and data, and "
     "takes the fastest (default: auto)."},
    {"kernel-file", 0, RUN, OPTION_INPUT(kernel_file, "FILE"),
     "Run your own kernel from an OpenCL source, or a CUDA source if NVRTC is installed. "
     "doc/how-to/kernel-file.md has a template. With --ladder it runs last."},
    {"no-tune", 0, TRIALS, OPTION_FLAG(no_tune),
     "Use the backend's default kernel and the transport \"staged\": time no others first."},
    {"transport", 'x', RUN, OPTION_CUSTOM(transport, halo_transport_parse, "auto|TRANSPORT"),
     "Select the transport that moves halos between ranks; --list shows where each keeps halos and what "
     "copies them. auto times a few exchanges with each but staged-mpi and pageable, and takes the "
     "fastest (default: auto)."},
    {GRID_OPTION_PROCS(RUN, "minimises the estimated time of halo exchange")},
    {"no-overlap", 0, RUN, OPTION_FLAG(no_overlap),
     "Exchange halos after computing, instead of overlapping both."},
    {"pad", 0, RUN, OPTION_INT(pad, 0, 65536, "FLOATS"),
     "Add at least FLOATS unused elements to each row in memory, and round its length up to a multiple of "
     "32 (default: 0)."},
    {"array-pad", 0, RUN, OPTION_INT(array_pad, 0, 1 << 20, "BYTES"),
     "Shift the n-th array of coefficients by n times BYTES in its memory, so that the arrays differ in the "
     "low bits of their addresses. BYTES is a multiple of 256, or of 512 with OpenCL. Kernels that "
     "interleave coefficients ignore it (default: 0)."},
    {DEVICE_OPTION_BIND(RUN)},
    {DEVICE_OPTION_EXPECT(RUN)},
    {RANKS_OPTION_TIMEOUT(RUN)},
    {"sweeps", 'n', PLAIN | LADDER, OPTION_INT(sweeps, 1, 10000000, "SWEEPS"),
     "Run one block of SWEEPS sweeps (updates of all grid points), instead of repeating blocks for --time.",
     .group = "How long", .given = OPTION_GIVEN(sweeps_given)},
    {"time", 't', PLAIN | LADDER | OFFICIAL, OPTION_TIME(seconds, 0.01, 1e7, "DURATION"),
     "Repeat blocks of sweeps for about this long: 90 (seconds), 15m or 8h (default: 10s).",
     .given = OPTION_GIVEN(seconds_given)},
    {"block", 0, PLAIN | LADDER | SOAK, OPTION_INT(block, 1, 10000000, "SWEEPS"),
     "Set the number of sweeps per block. Each block starts from the initial data, so that its result is "
     "known (default: 120).",
     .given = OPTION_GIVEN(block_given)},
    {"official", 0, RUN, OPTION_FLAG(official),
     "Follow the original benchmark: 3 verified sweeps, then unverified ones, without a restart from the "
     "initial data, for about 60 s or --time. Print MFLOPS and the score (1: a Pentium III at 600 MHz)."},
    {"soak", 0, RUN, OPTION_TIME(soak, 0.01, 1e8, "DURATION"),
     "Run a burn-in for this long: 90 (seconds), 15m, 8h or 2d; standard and dense data alternate. Check "
     "every bit of the result after each pass over memory (one sweep or several) and of the coefficients "
     "after each block. Skip the trials that choose kernel and transport.",
     .given = OPTION_GIVEN(soak_given)},
    {"soak-log", 0, SOAK, OPTION_OUTPUT(soak_log, "FILE"),
     "Append one JSON line per block to FILE, flushed to disk before the next block begins."},
    {"soak-every", 0, SOAK, OPTION_INT(soak_every, 1, 10000000, "PASSES"),
     "With --soak: check the result only after every PASSES passes; fewer checks leave more time for "
     "memory traffic (default: 1)."},
    {"ladder", 0, RUN, OPTION_FLAG(ladder),
     "Run the backend's kernels from the simplest to the fastest and show what each optimisation gains. "
     "Run each kernel for about one second, or --time."},
    {"verify", 0, PLAIN | LADDER | OFFICIAL, OPTION_CHOICE(verify, "auto|full|off"),
     "Compare each block's result with a stored checksum or, for a size without one, with one computed on "
     "the CPUs. auto: let the CPUs compute for at most --time or 5 s, whichever is longer, and verify only "
     "the sweeps that they completed. full: let them compute a whole block, however long it takes. off: "
     "do not verify (default: auto).",
     .group = "Result"},
    {"accept", 0, PLAIN | SOAK, OPTION_INPUT(accept, "POLICY"),
     "Judge the run by the limits of a policy: default (if none is named), h100, h200, or a JSON file "
     "(doc/how-to/acceptance.md). Skip the trials that choose kernel and transport; without --size and "
     "--fill, use --weak. Exit status 5: a limit was not met. 3: too noisy, or the result could not be "
     "verified. 2: "
     "--verify off was given, or no limit could be checked.",
     .missing = "default"},
    {"reference", 0, PLAIN | SOAK, OPTION_INPUT(reference, "FILE"),
     "Compare the speed with that of an earlier run, whose --json file is FILE. Exit status 5: slower by "
     "more than the noise of both. 3: too noisy. 2: the runs cannot be compared."},
    {OPTION_JSON(RUN, NULL, "")},
    {OPTION_QUIET},
    {"verbose", 'v', RUN, OPTION_FLAG(verbose),
     "Add to the report: devices' UUIDs and theoretical bandwidth, phases that took no time, and the wall "
     "time of each part of the run, such as start-up; with --ladder, registers, shared memory and "
     "occupancy of each kernel."},
    {OPTION_LIST("backends, devices, kernels and transports")},
};

/* Checks that the kernel exists for the backend given with it. */
static status_t himeno_kernel_check(const struct himeno_config *c)
{
  if (!c->backend || !c->kernel) return STATUS_OK;
  const struct himeno_kernel_set *set = himeno_kernels_find(c->backend->name);
  if (!set || himeno_kernel_find(set, c->kernel)) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--kernel %s: backend %s has no such kernel; --list shows them", c->kernel,
                  c->backend->name);
}

static const struct himeno_config defaults = {
    .block = HIMENO_BLOCK_SWEEPS, .soak_every = 1, .seconds = HIMENO_BLOCK_SECONDS, .timeout = WATCH_SECONDS};

static status_t himeno_options_check(void *config)
{
  struct himeno_config *c = config;
  RETURN_IF_FAILED(himeno_kernel_check(c));
  if (c->array_pad % 256)
    return log_fail(STATUS_USAGE, "--array-pad %" PRId64 ": must be a multiple of 256", c->array_pad);
  c->no_tune |= c->accept || c->soak_given;
  return STATUS_OK;
}

static const struct option_pair exclusive[] = {{"sweeps", "time|block"},
                                               {"size", "fill"},
                                               {"official", "sweeps|block|weak|verify full"},
                                               {"soak", "sweeps|time|official|ladder|data"},
                                               {"accept", "ladder|official"},
                                               {"reference", "ladder|official"},
                                               {"kernel", "kernel-file"},
                                               {"ladder", "kernel|official"},
                                               {0}};

static const struct option_pair joined[] = {{"soak-log", "soak"}, {"soak-every", "soak"}, {0}};

const struct option_program himeno_options = {
    .name = "himeno-gpu",
    .summary = "Check the correctness, speed and scaling of GPU clusters with the Himeno benchmark",
    .epilogue =
        "Examples:\n"
        "  mpirun -np 8 himeno-gpu                  ten seconds on eight devices, verified\n"
        "  mpirun -np 4 himeno-gpu -s XL -n 100     one block of 100 sweeps\n"
        "  himeno-gpu --list                        available backends, devices, kernels, transports\n",
    .exits = "4 wrong result;\n"
             "5 a limit was not met; 6 hang; 7 runtime fault (CUDA, OpenCL or MPI); 8 ended by a signal.\n"
             "--accept and --reference list further reasons for 2 and 3.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .defaults = &defaults,
    .config_bytes = sizeof defaults,
    .check = himeno_options_check,
    .exclusive = exclusive,
    .joined = joined,
};

void himeno_cmdline_ignore(const struct himeno_config *c)
{
  const int mode = c->soak_given ? SOAK : c->official ? OFFICIAL : c->ladder ? LADDER : PLAIN;
  const char *asked = c->soak_given    ? "--soak"
                      : c->official    ? "--official"
                      : c->ladder      ? "--ladder"
                      : c->accept      ? "--accept"
                      : c->kernel_file ? "--kernel-file"
                                       : "a plain run";
  option_ignore((unsigned)(mode | (c->accept || c->soak_given ? 0 : TRIALS)), asked);
}

int himeno_block_sweeps(const struct himeno_config *config)
{
  return (int)(config->sweeps_given ? config->sweeps : config->block);
}
