/* SPDX-License-Identifier: MIT */
#include "gemm/config/cmdline.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "comm/halo/transport.h"
#include "comm/ranks/options.h"
#include "comm/ranks/watch.h"
#include "gemm/cluster/grid.h"
#include "gemm/kernels/kernels.h"
#include "gpu/device_options.h"

#define DEFAULT_SECONDS 2.0
#define LADDER_SECONDS  0.2
#define FACTOR_MAX      1e6

#define CONFIG struct gemm_config

/* Bits of the modes; each option has the set of modes that read it. */
enum {
  ALONE = 1,
  LADDER = 2,
  CLUSTER = 4,
  STUDY = 8,
  TIMED = 16,
  PRODUCT = ALONE | CLUSTER,
  RUN = PRODUCT | LADDER,
};

static status_t gemm_parse_sizes(const char *option, const char *text, void *field)
{
  struct gemm_sizes sizes = {.n = 0};
  char one[64];
  for (const char *rest = text; rest;) {
    if (sizes.n == GEMM_SIZES_MAX)
      return log_fail(STATUS_USAGE, "%s %s: must be up to %d sizes, N or MxNxK, separated by commas", option,
                      text, GEMM_SIZES_MAX);
    rest = value_next(rest, ',', one, sizeof one);
    RETURN_IF_FAILED(gemm_size_parse(option, one, sizes.size[sizes.n++]));
  }
  memcpy(field, &sizes, sizeof sizes);
  return STATUS_OK;
}

/* Parses four numbers: GFLOPS, GB/s of device memory, GB/s of local memory, compute units. */
static status_t ceilings_parse(const char *option, const char *text, void *field)
{
  struct gemm_machine *card = field;
  double value[4];
  char one[64];
  const char *rest = text;
  int n = 0;
  for (; rest && n < 4; n++) {
    rest = value_next(rest, ',', one, sizeof one);
    if (value_read_real(one, n < 3 ? 1e-3 : 1, 1e9, &value[n]) != STATUS_OK) break;
  }
  if (n < 4 || rest || value[3] != (int)value[3])
    return log_fail(STATUS_USAGE,
                    "%s %s: must be four positive numbers, the last one whole: GFLOPS, GB/s of device "
                    "memory, GB/s of local memory, compute units",
                    option, text);
  *card = (struct gemm_machine){.ceilings = {.flops = value[0] * 1e9,
                                             .bytes_per_second = value[1] * 1e9,
                                             .local_bytes_per_second = value[2] * 1e9},
                                .units = (int)value[3]};
  return STATUS_OK;
}

static status_t gemm_parse_kernel(const char *option, const char *text, void *field)
{
  const char **kernel = field;
  *kernel = strcmp(text, "auto") == 0 ? NULL : text;
  struct value_guess guess = {.text = text};
  char meant[VALUE_TEXT_MAX];
  for (int b = 0; *kernel && gpu_backends[b]; b++) {
    const struct gemm_kernel_set *set = gemm_kernels_find(gpu_backends[b]->name);
    if (set && gemm_kernel_find(set, text)) return STATUS_OK;
    for (int k = 0; set && k < set->n; k++) value_guess(&guess, set->kernels[k]->name);
  }
  return *kernel ? log_fail(STATUS_USAGE, "%s %s: no backend has such a kernel%s", option, text,
                            value_guess_text(&guess, "; --list shows them", meant))
                 : STATUS_OK;
}

static const struct option_spec options[] = {
    {"size", 's', RUN, OPTION_CUSTOM(size, gemm_size_parse, "N|MxNxK"),
     "Set the matrix sizes: A is MxK, B is KxN and C is MxN; N alone sets all three (default: 4096 on a "
     "GPU, 1024 on a CPU).",
     .group = "Problem", .given = OPTION_GIVEN(size_given)},
    {"type", 0, RUN, OPTION_CHOICE_AS(type, "f32|tf32|f16|f16-f16|bf16|f64", "TYPE"),
     "Select the element type: f32, tf32, f16, bf16, or f16-f16 or f64, which also sum and store in half or "
     "double precision. The others sum and store in float (default: f32)."},
    {"trans", 0, RUN, OPTION_CHOICE(trans, "NN|NT|TN|TT"),
     "Select which of A and B are stored transposed: T, or N for not. All matrices are row-major (default: "
     "NN)."},
    {"alpha", 0, RUN, OPTION_REAL(alpha, -FACTOR_MAX, FACTOR_MAX, "REAL"),
     "Multiply the product by REAL (default: 1)."},
    {"beta", 0, RUN, OPTION_REAL(beta, -FACTOR_MAX, FACTOR_MAX, "REAL"),
     "Multiply the previous C by REAL and add it (default: 0, and C is not read)."},
    {"lda", 0, ALONE | LADDER, OPTION_INT(ld[GEMM_A], 1, GEMM_EXTENT_MAX, "N"),
     "Set the leading dimension of A: the distance of its rows in memory, in elements (default: the length "
     "of a row)."},
    {"ldb", 0, ALONE | LADDER, OPTION_INT(ld[GEMM_B], 1, GEMM_EXTENT_MAX, "N"),
     "Set the leading dimension of B, like --lda."},
    {"ldc", 0, ALONE | LADDER, OPTION_INT(ld[GEMM_C], 1, GEMM_EXTENT_MAX, "N"),
     "Set the leading dimension of C, like --lda."},
    {"data", 0, RUN, OPTION_CHOICE(data, "random|wide|special"),
     "Select the input. random: uniform in [-1, 1). wide: values of many magnitudes. special: with NaN and "
     "infinities, verified by the rules of IEEE 754 (default: random)."},
    {"distributed", 0, RUN, OPTION_FLAG(distributed),
     "Compute one product on all ranks together, each with a block of C, instead of the whole "
     "product on each rank."},
    {"procs", 'p', CLUSTER, OPTION_CUSTOM(procs, gemm_procs_parse, "auto|PxQ"),
     "With --distributed: divide C into PxQ blocks, one per rank. auto takes the estimated fastest "
     "division (default: auto)."},
    {"weak", 'w', CLUSTER, OPTION_FLAG(weak),
     "With --distributed: give every rank a block of C of --size, so that C grows with the number of "
     "ranks; K stays the same."},
    {"transport", 'x', CLUSTER, OPTION_CUSTOM(transport, halo_transport_parse, "auto|TRANSPORT"),
     "With --distributed: select the transport that moves parts of A and B between ranks; himeno-gpu "
     "--list shows them. auto times a product with each and takes the fastest (default: auto)."},
    {"panel", 0, CLUSTER, OPTION_INT(panel, 1, GEMM_EXTENT_MAX, "N"),
     "With --distributed: exchange A and B in panels, N columns of A and N rows of B at a time (default: "
     "equal panels of at most 256 on a CPU; on a GPU 8192, or 32768 for half types)."},
    {DEVICE_OPTION_BACKEND(RUN | STUDY)},
    {DEVICE_OPTION_DEVICE(RUN | STUDY)},
    {"qpus", 0, RUN, OPTION_INT(qpus, 1, 1024, "N"),
     "With --backend qpu: run on N of the 12 QPUs (default: 12)."},
    {"kernel", 'k', PRODUCT, OPTION_CUSTOM(kernel, gemm_parse_kernel, "auto|KERNEL"),
     "Select the compute kernel; --list shows them, from the simplest to the fastest. auto takes the last "
     "one that supports the problem; on the emulated Raspberry Pi GPU, the last one whose estimated time "
     "is within 3% of the shortest (default: auto)."},
    {"ladder", 0, RUN, OPTION_FLAG(ladder),
     "Run the backend's kernels from the simplest to the fastest over several sizes, and compare "
     "each with the speed that a model predicts."},
    {"sizes", 0, LADDER, OPTION_CUSTOM(sizes, gemm_parse_sizes, "N,N,..."),
     "With --ladder: set the sizes, each N or MxNxK (default: 1024 to 8192 in steps of 1024 on a GPU; 256, "
     "512 and 1024 on a CPU)."},
    {"ceilings", 0, LADDER, OPTION_CUSTOM(card, ceilings_parse, "GFLOPS,GB/S,GB/S,UNITS"),
     "With --ladder: predict for a device with this peak, bandwidth of device memory, bandwidth of local "
     "memory and number of compute units (default: as measured on the device in use)."},
    {"no-reference", 0, ALONE | LADDER, OPTION_FLAG(no_reference),
     "Do not time the vendor's library (such as cuBLAS) for comparison.", .old = "no-yardstick"},
    {DEVICE_OPTION_BIND(RUN | STUDY)},
    {DEVICE_OPTION_EXPECT(RUN | STUDY)},
    {RANKS_OPTION_TIMEOUT(RUN | STUDY)},
    {"time", 't', TIMED, OPTION_TIME(seconds, 0.01, 1e7, "DURATION"),
     "Repeat blocks of products for about this long per kernel: 90 (seconds), 15m or 8h (default: 2s; with "
     "--ladder 0.2s).",
     .group = "How long", .given = OPTION_GIVEN(seconds_given)},
    {"block", 0, TIMED, OPTION_TIME(block, 0.001, 60, "DURATION"),
     "Set the length of a timed block: products run back to back for DURATION, at most 10000 of them. Each "
     "block is verified; a block of the vendor's library follows. Longer blocks show what a GPU sustains at "
     "its power limit "
     "(default: 0.005s on a GPU, 0.05s on a CPU)."},
    {"verify", 0, RUN, OPTION_CHOICE(verify, "auto|full|off"),
     "Compare the result with a product computed in float64, for --type f64 in double-double. full: compare "
     "every element. "
     "auto: the same, "
     "but above about 1290x1290x1290 compare some rows and columns, and check the others by products with "
     "random vectors. off: do not verify (default: auto).",
     .group = "Result"},
    {"accept", 0, RUN, OPTION_FLAG(accept),
     "Exit with status 4, instead of a warning, if the vendor's library gives a wrong result: that points "
     "to a faulty device. Record each device's power. Add blocks until the standard deviation of their "
     "times is known to be at most 5%, for at most 10s, or --time if longer. This option takes no policy, "
     "unlike that of himeno-gpu."},
    {OPTION_JSON(RUN, NULL, "")},
    {OPTION_QUIET},
    {"verbose", 'v', RUN, OPTION_FLAG(verbose),
     "Add the devices' UUIDs to the report; with --ladder, the resources that each kernel uses."},
    {OPTION_LIST("backends, devices and kernels")},
    {"fragment-map", 0, STUDY, OPTION_FLAG(fragment_map),
     "For developers: measure and show which lane (thread of a warp) holds which element of each WMMA "
     "fragment (tile), and exit.",
     .group = "Tensor cores (CUDA)"},
};

static status_t gemm_kernel_check(const struct gemm_config *c)
{
  if (!c->backend || !c->kernel) return STATUS_OK;
  const struct gemm_kernel_set *set = gemm_kernels_find(c->backend->name);
  if (set && gemm_kernel_find(set, c->kernel)) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--kernel %s: backend %s has no such kernel; --list shows them", c->kernel,
                  c->backend->name);
}

static status_t ladder_check(const struct gemm_config *c)
{
  struct gemm_problem problem;
  if (c->sizes.n && !c->ladder)
    return log_fail(STATUS_USAGE, "--sizes: only with --ladder; --size is for one product");
  if (c->card.units && !c->ladder) return log_fail(STATUS_USAGE, "--ceilings: only with --ladder");
  for (int n = 0; n < c->sizes.n; n++) RETURN_IF_FAILED(gemm_config_problem(c, c->sizes.size[n], &problem));
  return STATUS_OK;
}

static status_t qpus_check(const struct gemm_config *c)
{
  const int most = c->backend ? c->backend->units_max : 0;
  if (c->qpus <= most) return STATUS_OK;
  if (most) return log_fail(STATUS_USAGE, "--qpus %d: must be from 1 to %d", (int)c->qpus, most);
  return log_fail(STATUS_USAGE, "--qpus: only with --backend qpu");
}

status_t gemm_config_problem(const struct gemm_config *c, const int64_t size[3], struct gemm_problem *problem)
{
  struct gemm_problem p = {.type = (enum gemm_type)c->type,
                           .m = size[0],
                           .n = size[1],
                           .k = size[2],
                           .trans_a = c->trans >> 1,
                           .trans_b = c->trans & 1,
                           .alpha = gemm_rounded((enum gemm_type)c->type, c->alpha),
                           .beta = gemm_rounded((enum gemm_type)c->type, c->beta)};
  memcpy(p.ld, c->ld, sizeof p.ld);
  RETURN_IF_FAILED(gemm_problem_complete(&p));
  if (c->data == GEMM_SPECIAL && !gemm_verify_is_full(&p, (enum gemm_verify)c->verify))
    return log_fail(STATUS_USAGE,
                    "--data special: a size this large is compared by samples, and NaN spoils them; "
                    "--verify full compares all of it");
  *problem = p;
  return STATUS_OK;
}

static const struct gemm_config defaults = {.seconds = DEFAULT_SECONDS, .alpha = 1, .timeout = WATCH_SECONDS};

static status_t gemm_options_check(void *config)
{
  struct gemm_config *c = config;
  struct gemm_problem problem;
  RETURN_IF_FAILED(gemm_kernel_check(c));
  RETURN_IF_FAILED(qpus_check(c));
  if (c->accept && c->verify == GEMM_VERIFY_OFF)
    return log_fail(STATUS_USAGE, "--accept needs a verified result: remove --verify off");
  if (c->data == GEMM_SPECIAL && c->alpha == 0)
    return log_fail(STATUS_USAGE, "--data special: with --alpha 0 the special values are not read");
  RETURN_IF_FAILED(ladder_check(c));
  if (c->ladder && !c->seconds_given) c->seconds = LADDER_SECONDS;
  /* each rank chooses its own leading dimensions */
  if (c->distributed) memset(c->ld, 0, sizeof c->ld);
  if (c->fragment_map) c->json = NULL; /* this mode writes no document */
  return c->size_given ? gemm_config_problem(c, c->size, &problem) : STATUS_OK;
}

static const struct option_pair exclusive[] = {{"sizes", "size"}, {"ladder", "kernel|distributed"}, {0}};

const struct option_program gemm_options = {
    .name = "gemm-gpu",
    .summary = "Check matrix products on GPU clusters: correctness and share of the peak speed",
    .epilogue = "Examples:\n"
                "  mpirun -np 8 gemm-gpu                    one product on each of eight devices, verified\n"
                "  mpirun -np 4 gemm-gpu --distributed -s 16384   one product over four devices\n"
                "  gemm-gpu -s 1000x2000x3000 --trans NT    A is 1000x3000, and B is transposed\n"
                "  gemm-gpu --ladder -s 4096                all kernels, each at this one size\n"
                "  gemm-gpu --list                          available backends, devices and kernels\n",
    .exits = "4 wrong result;\n6 hang; 7 runtime fault (CUDA, OpenCL or MPI); 8 ended by a signal.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .defaults = &defaults,
    .config_bytes = sizeof defaults,
    .check = gemm_options_check,
    .exclusive = exclusive,
};

void gemm_cmdline_ignore(const struct gemm_config *c, int timed)
{
  const int run = c->ladder ? LADDER : c->distributed ? CLUSTER : ALONE;
  option_ignore((unsigned)(c->fragment_map ? STUDY : run | (timed ? TIMED : 0)),
                c->fragment_map  ? "--fragment-map"
                : !timed         ? "an emulated run"
                : c->ladder      ? "--ladder"
                : c->distributed ? "--distributed"
                                 : "a plain run");
}
