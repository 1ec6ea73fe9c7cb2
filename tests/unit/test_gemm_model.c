/* SPDX-License-Identifier: MIT */
/* Compares the roofline model with figures of the same formulas, and a report with its text. */
#include "tests/unit/unit.h"

#include <math.h>

#include "gemm/report/report.h"

static const struct gemm_machine machine = {
    .ceilings = {.flops = 1e12, .bytes_per_second = 1e11, .local_bytes_per_second = 1e12}, .units = 4};

/* An AMD Radeon R9 Fury X: 64 units at 1.05 GHz, each of which reads 128 bytes of local memory per
 * clock. */
static const struct gemm_machine fury_x = {
    .ceilings = {.flops = 8601.6e9, .bytes_per_second = 392e9, .local_bytes_per_second = 8601.6e9},
    .units = 64};

#define CASE(on, type, m, n, k, trans_a, trans_b, bound, seconds, device, local, filled, ...)                \
  {                                                                                                          \
    &on, GEMM_##type, {m, n, k}, {trans_a, trans_b}, {__VA_ARGS__}, bound,                                   \
    {                                                                                                        \
      seconds, device, local, filled                                                                         \
    }                                                                                                        \
  }

/* Blocks: rows, columns and depth of a group, rows and columns of an item, stages, whether local
 * memory is read ahead, and parts of k. Figures: seconds, operations per byte of device and local
 * memory, and share of the machine. */
TEST(predictions_follow_from_the_blocks_and_the_machine)
{
  static const struct gemm_machine slow = {
      .ceilings = {.flops = 1e12, .bytes_per_second = 1e11, .local_bytes_per_second = 1e11}, .units = 4};
  static const struct gemm_machine unknown = {.units = 1};
  static const struct {
    const struct gemm_machine *on;
    enum gemm_type type;
    int size[3], trans[2], blocks[8];
    char bound; /* Arithmetic, Device or Local memory */
    double figures[4];
  } cases[] = {
      /* 0.25 operations per byte, as in the seminar, allow 25 GFLOPS, and 98 on its device. */
      CASE(machine, F32, 4096, 4096, 4096, 0, 0, 'D', 5.4975631, 0.25, 0, 1, 16, 16, 0, 1, 1, 1, 0, 1),
      CASE(fury_x, F32, 4096, 4096, 4096, 0, 0, 'D', 1.4024433, 0.25, 0, 1, 16, 16, 0, 1, 1, 1, 0, 1),
      /* A square block in registers has a quarter of its side. */
      CASE(machine, F32, 4096, 4096, 4096, 0, 0, 'A', 0.13744395, 32, 0, 1, 128, 128, 0, 128, 128, 1, 0, 1),
      /* One number of a row costs a sector of 32 bytes: 128 of them and a row of 128 are 4608. */
      CASE(machine, F32, 4096, 4096, 4096, 0, 0, 'D', 0.40802689, 7.1111111, 2, 1, 128, 128, 1, 8, 8, 1, 0,
           1),
      CASE(machine, F32, 4096, 4096, 4096, 0, 0, 'A', 0.25770304, 32, 2, 1, 128, 128, 8, 8, 8, 1, 0, 1),
      /* Loads of device memory overlap, then of local memory: 94.1% of the issue slots multiply. */
      CASE(fury_x, F32, 4096, 4096, 4096, 0, 0, 'A', 0.035927644, 32, 2, 1, 128, 128, 8, 8, 8, 1, 0, 1),
      CASE(fury_x, F32, 4096, 4096, 4096, 0, 0, 'A', 0.024971095, 32, 2, 1, 128, 128, 8, 8, 8, 2, 0, 1),
      CASE(fury_x, F32, 4096, 4096, 4096, 0, 0, 'A', 0.016981945, 32, 2, 1, 128, 128, 8, 8, 8, 2, 1, 1),
      CASE(slow, F32, 4096, 4096, 4096, 0, 0, 'L', 0.68719977, 32, 2, 1, 128, 128, 8, 8, 8, 2, 1, 1),
      /* Tiles that leave units idle or exceed the matrix, and parts of k. */
      CASE(machine, F32, 128, 128, 65536, 0, 0, 'A', 0.0091318055, 32, 2, 0.25, 128, 128, 8, 8, 8, 2, 1, 1),
      CASE(machine, F32, 128, 128, 65536, 0, 0, 'A', 0.0022969443, 32, 2, 1, 128, 128, 8, 8, 8, 2, 1, 4),
      CASE(machine, F32, 129, 100, 65536, 0, 0, 'A', 0.0047096845, 21.333333, 1.3333333, 0.39367676, 128, 64,
           8, 8, 4, 2, 1, 2),
      CASE(machine, F64, 64, 64, 4096, 0, 0, 'A', 0.00019166579, 8, 1, 0.5, 64, 64, 8, 8, 8, 1, 0, 2),
      CASE(machine, F16_F16, 64, 64, 4096, 0, 0, 'A', 0.00011446438, 21.333333, 4, 0.5, 64, 64, 8, 8, 8, 1, 0,
           2),
      /* Along which side of the operands k runs. */
      CASE(machine, F16, 64, 128, 512, 0, 0, 'A', 5.4283072e-05, 12.8, 2.6666667, 0.25, 64, 128, 2, 4, 8, 2,
           0, 1),
      CASE(machine, F16, 64, 128, 512, 0, 1, 'A', 5.4283072e-05, 5.3333333, 2.6666667, 0.25, 64, 128, 2, 4, 8,
           2, 0, 1),
      CASE(machine, F16, 64, 128, 512, 1, 0, 'A', 5.4283072e-05, 42.666667, 2.6666667, 0.25, 64, 128, 2, 4, 8,
           2, 0, 1),
      CASE(machine, F16, 64, 128, 512, 1, 1, 'A', 5.4283072e-05, 7.5294118, 2.6666667, 0.25, 64, 128, 2, 4, 8,
           2, 0, 1),
      /* Without blocks or a peak there is no prediction. */
      CASE(machine, F32, 64, 64, 64, 0, 0, 'A', 0, 0, 0, 0, 8, 8, 8, 0, 8, 1, 0, 1),
      CASE(machine, F32, 64, 64, 64, 0, 0, 'A', 0, 0, 0, 0, 0, 8, 8, 8, 8, 1, 0, 1),
      CASE(unknown, F32, 64, 64, 64, 0, 0, 'A', 0, 0, 0, 0, 8, 8, 8, 8, 8, 1, 0, 1),
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const int *size = cases[c].size, *b = cases[c].blocks;
    const struct gemm_problem p = {.type = cases[c].type,
                                   .m = size[0],
                                   .n = size[1],
                                   .k = size[2],
                                   .trans_a = cases[c].trans[0],
                                   .trans_b = cases[c].trans[1]};
    const struct gemm_blocks blocks = {b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], 0, 0};
    const struct gemm_prediction is = gemm_predict(cases[c].on, &p, &blocks);
    const double found[] = {is.seconds, is.device_intensity, is.local_intensity, is.filled};
    for (int n = 0; n < 4; n++)
      if (!(fabs(found[n] - cases[c].figures[n]) <= 1e-7 * found[n]))
        fail_msg("case %zu, figure %d: %.10g", c, n, found[n]);
    assert_int_equal("ADL"[is.bound], cases[c].bound);
  }
}

/* Returns the report after its version. */
static const char *said(const struct gemm_run *run)
{
  static char text[1 << 16];
  FILE *out = fmemopen(text, sizeof text, "w");
  (run->result.ladder ? gemm_ladder_text : gemm_report_text)(run, out);
  fclose(out);
  return strpbrk(text, ",\n");
}

TEST(a_report_lists_64_wrong_ranks_and_counts_the_others)
{
  static struct gemm_rank ranks[66];
  static char wrong[1 << 13], warned[1 << 13];
  struct gemm_series series = {.kernel = gemm_kernels_find("cpu")->kernels[0]};
  struct gemm_run run = {.rig.placement = {.ranks = 66, .backend = &gpu_backend_cpu},
                         .result = {.series = &series, .ranks = ranks, .verdict = STATUS_WRONG}};
  int used = sprintf(wrong, "  verdict    WRONG: 65 of 66 ranks: the product differs from the reference "
                            "result\n"),
      end = 0;
  for (int r = 1; r < 66; r++) {
    sprintf(ranks[r].row.host, "n%d", r), sprintf(ranks[r].fault, "f%d", r),
        sprintf(ranks[r].warning, "w%d", r);
    if (r == 65) break;
    used += sprintf(wrong + used, "  wrong      rank %d on n%d, device : f%d\n", r, r, r);
    end += sprintf(warned + end, "  WARNING    WRONG on rank %d on n%d, device : w%d\n", r, r, r);
  }
  strcpy(wrong + used, "  ... and 1 more: see --json\n"), strcpy(warned + end, wrong + used);
  assert_non_null(strstr(said(&run), wrong));
  assert_non_null(strstr(said(&run), warned));
}

static const struct gemm_kernel ours = {.name = "ours", .step = "our step", .rung = 3},
                                other = {.name = "other", .step = "another step", .rung = 4},
                                library = {.name = "lib", .step = "a library", .is_reference = 1};
static double even[] = {1, 1, 1}, uneven[] = {1, 1.1, 1.3};

static const char alone[] =
    "\n\n"
    "  verdict    PASS: sampled rows, columns and vectors agree with float64; timed repetitions are "
    "bitwise equal\n  speed      8.00 GFLOPS, 50.0% of the peak; 2 x the GFLOPS of the slowest rank\n"
    "  WARNING    this speed is too noisy to compare: standard deviation of block times up to 137%\n\n"
    "  problem    10 x 20 x 30 (m x n x k), f32, NN, alpha 2, beta 3, random data\n"
    "  where      2 ranks on 1 host, backend cpu, each computes the whole product\n"
    "  backend    the CPU (n1: no GPU; n1: none)\n  kernel     ours: our step\n\n"
    "  rank  host                        GFLOPS  core IDs    NUMA  PCI           device\n"
    "     0  n1                            8.0  0-3            1  –             CPU\n"
    "     1  n1                            9.0  4-7            –  –             CPU\n\n"
    "  peak       8.00 GFLOPS per device, measured in this run by multiply-adds in registers\n"
    "  model      expects 62.5% of the peak: limited by device memory\n"
    "  reference  library lib: 16.00 GFLOPS with a WRONG result; this kernel is 0.50 times as fast\n"
    "  reference  library other: needs more\n"
    "  timed      3 blocks of 2 products: 3.400 s in all; the speed is that of the median block\n"
    "  noise      standard deviation of the blocks' times: at most 137.5%, with 99% confidence\n\n"
    "  error      worst of 640 elements: 5e-07 of the sum of its terms |a*b| (allowed: 1e-06)\n"
    "             RMS of the error / RMS of C: 1e-07, estimated by random vectors (allowed: 2e-07)\n"
    "             library lib: 3e-07 and 4e-07; float64 arithmetic: emulation\n"
    "  confidence 95%: fewer than 5.08e+07 wrong blocks per 1000 device-days, from 5.9e-05 device-days\n"
    "  load       0.00 of the power limit: NOT STRESSED, faults that need heat or power may be hidden\n"
    "  WARNING    WRONG on rank 1 on n1, device CPU: differs\n";
static const char *const divided[] = {
    "  verdict    INCOMPLETE: a signal ended the run early; its 1 block passed verification\n",
    "  where      2 ranks on 1 host, backend opencl, one product divided 1x2\n"
    "  backend    the CPU (n1: no GPU; n1: none)\n  kernel     ours: our step\n"
    "  panels     3, each 12 wide along k, broadcast while the previous one is multiplied\n"
    "  transport  staged (fastest in a short trial)\n"
    "  path       ranks 0 and 1, face j+: staged, because: no peer access\n"
    "  staging    1 path through shared memory\n  staging    2 paths by MPI, because: no room\n\n",
    "  model      does not describe OpenCL on a CPU\n"
    "  timed      1 block of 1 product: 1.000 s in all; the speed is that of the median block\n\n"
    "  time per product 500.000 ms; phases may overlap; median (min ... max) over ranks;\n"
    "  exposed time: the part of a product in which a rank does not compute\n"
    "    compute           375.000 ms  (250.000 ... 500.000)  ████████████████████████\n"
    "    exposed time       62.500 ms  (0.000 ... 125.000)  ████\n\n",
    "             RMS of the error / RMS of C: 1e-07 (allowed: 2e-07)\n  WARNING    WRONG on rank 1"};
static const char *const emulated[] = {
    "early; its 1 block ran without verification\n",
    "\n  emulated   no speed: the emulator took 0.500 s per product\n"
    "  counts     1000 instructions, 80.0% with float arithmetic; the product needs 50.0% of what both "
    "ALUs can do\n"
    "  estimate   4.000 ms for the slowest of 2 Raspberry Pis at 250 MHz, exchanges aside, by a model and "
    "not measured\n             (doc/explanation/qpu-time.md)\n  WARNING    WRONG on rank 1"};

TEST(a_report_has_speed_timing_errors_and_warnings)
{
  struct gemm_series series[] = {
      {&ours, .flop = 2e9, .seconds = 0.5, .samples = uneven, .n_samples = 3, .launches = 2,
       .predicted = {0.4, .bound = GEMM_BOUND_DEVICE},
       .check = {GEMM_VERIFIED_SAMPLED, {1e-6, 2e-7}, 5e-7, 1e-7, 640}},
      {&library, .status = STATUS_WRONG, .flop = 2e9, .seconds = 0.25, .samples = uneven, .n_samples = 3,
       .launches = 4, .check = {GEMM_VERIFIED_FULL, {0}, 3e-7, 4e-7, .arithmetic = GEMM_EMULATION}},
      {&other, .why = "needs more"}};
  struct gemm_rank ranks[] = {
      {.row = {"n1", "no GPU", {"CPU"}, .numa = 1, .cpus = "0-3", .gflops = 8},
       .n_paths = 1,
       .paths = {{1, "j+", 8, "staged", "no peer access", "shared memory", ""}},
       .phases = {0.25}},
      {.row = {"n1", "none", {"CPU"}, .numa = -1, .cpus = "4-7", .gflops = 9},
       .n_paths = 2,
       .paths = {{0, "j+", 8, "staged", "", "MPI", "no room"}, {0, "i+", 8, "staged", "", "MPI", "far"}},
       .phases = {0.5, [GEMM_PHASE_EXPOSED] = 0.125},
       .warning = "differs"}};
  struct gemm_run run = {.rig = {.placement = {.ranks = 2, .backend = &gpu_backend_cpu},
                                 .config.accept = 1,
                                 .ceilings.flops = 8e9},
                         .work.problem = {.m = 10, .n = 20, .k = 30, .alpha = 2, .beta = 3},
                         .result = {.series = series, .n_series = 3, .ranks = ranks}};
  const struct gpu_backend opencl = {.name = "opencl"};
  struct gemm_cluster cluster = {.whole = run.work.problem,
                                 .grid = {.procs = {1, 2}, .panels = 3, .width = 12},
                                 .transport = &halo_transport_staged,
                                 .transport_tried = 1};
  assert_string_equal(said(&run), alone);
  run.rig.placement.backend = &opencl;
  run.rig.placement.info.is_cpu = 1;
  run.rig.config.accept = 0;
  run.work.cluster = &cluster;
  run.result.n_series = run.result.partial = 1;
  series[0].predicted.seconds = 0;
  series[0].n_samples = series[0].launches = 1;
  series[0].check.how = GEMM_VERIFIED_FULL;
  for (int part = 0; part < 4; part++) assert_non_null(strstr(said(&run), divided[part]));
  run.rig.placement.info.emulated = 1;
  cluster.transport = NULL;
  series[0].check.how = GEMM_NOT_VERIFIED;
  series[0].flop = 8000;
  series[0].counts = (struct gemm_counts){1000, 800, 8000, 5, 0.004};
  for (int part = 0; part < 2; part++) assert_non_null(strstr(said(&run), emulated[part]));
}

static const char ladder[] =
    ", ladder of backend cpu on CPU\n  f32, NN, alpha 0, beta 0, 2 ranks\n  backend    the CPU (no GPU)\n"
    "  peak       8.0 GFLOPS, measured in this run by multiply-adds in registers; memory 4.0 GB/s, local "
    "memory 40 GB/s\n"
    "\n  10 x 20 x 30 (m x n x k)\n"
    "      kernel           GFLOPS std.dev    peak predicted  bound by       result\n"
    "   3  ours                8.0   ±0.0%   50.0%     62.5%  device memory  correct      ██████\n"
    "      tile 64x32x16, 8x4, k in 2; 128 threads, 99 registers, 512 bytes of local memory\n"
    "      our step\n"
    "   4  other                 –       –       –         –  -              cannot run here \n"
    "      tile -; – threads, – registers\n      needs more\n      another step\n"
    "   -  lib                16.0  ±13.5%  100.0%         –  -              not verified ████████████\n"
    "      tile -; – threads, – registers\n      a library\n\n  90 x 2 x 3 (m x n x k)\n"
    "      kernel           GFLOPS std.dev    peak predicted  bound by       result\n"
    "   3  ours                4.0  ±13.5%   25.0%         –  -              not verified ████████████\n"
    "      tile 8x8x8; – threads, – registers\n"
    "   4  other                 –       –       –         –  -              not timed    \n"
    "      tile -; – threads, – registers\n"
    "   -  lib                   –       –       –         –  -              WRONG        \n"
    "      tile -; – threads, – registers\n      gives a wrong result\n\n"
    "  share of peak in %, measured (predicted)\n      m =                      10            90\n"
    "      ours            50.0 (62.5)   25.0       \n      other              –             –       \n"
    "      lib            100.0             –       \n"
    "  WARNING    reference lib at 90 x 2 x 3 gives a wrong result\n"
    "  WARNING    noisy: blocks of ours at m = 90 vary by 13.5%, smaller differences are noise\n"
    "  INCOMPLETE: a signal ended the ladder early\n";

static const char emulated_ladder[] =
    ", ladder of backend cpu on CPU\n  f32, NN, alpha 0, beta 0, 2 ranks\n\n"
    "  10 x 20 x 30 (m x n x k), emulated: no speed\n"
    "      kernel           instructions  arithmetic  of both ALUs  estimate, ms  result\n"
    "   3  ours                     1000       80.0%         25.0%         4.000  correct\n      our step\n"
    "      estimate: of a Raspberry Pi at 250 MHz, by a model and not measured "
    "(doc/explanation/qpu-time.md)\n\n  90 x 2 x 3 (m x n x k), emulated: no speed\n"
    "      kernel           instructions  arithmetic  of both ALUs  estimate, ms  result\n"
    "   3  ours                        0        0.0%          0.0%             –  cannot run here\n"
    "      too large\n"
    "      estimate: of a Raspberry Pi at 250 MHz, by a model and not measured "
    "(doc/explanation/qpu-time.md)\n";

TEST(a_ladder_has_a_table_per_size_and_the_shares)
{
  static struct gemm_series first[] = {{&ours, .flop = 2e9, .seconds = 0.5, .samples = even, .n_samples = 3,
                                        .blocks = {64, 32, 16, 8, 4, .splits = 2},
                                        .predicted = {0.4, .bound = GEMM_BOUND_DEVICE},
                                        .resources = {128, 99, 512}, .check.how = GEMM_VERIFIED_FULL},
                                       {&other, .status = STATUS_ENVIRONMENT, .why = "needs more"},
                                       {&library, .flop = 2e9, .seconds = 0.25, .samples = uneven,
                                        .n_samples = 3}},
                            last[] = {{&ours, .flop = 2e9, .seconds = 1, .samples = uneven, .n_samples = 3,
                                       .blocks = {8, 8, 8, .splits = 1}},
                                      {.kernel = &other},
                                      {&library, .status = STATUS_WRONG, .why = "gives a wrong result"}};
  struct gemm_ladder_size sizes[] = {{{.m = 10, .n = 20, .k = 30}, first, 3},
                                     {{.m = 90, .n = 2, .k = 3}, last, 3}};
  struct gemm_ladder l = {.sizes = sizes, .n = 2};
  struct gemm_run run = {
      .rig = {.placement = {.ranks = 2, .backend = &gpu_backend_cpu, .info.name = "CPU", .reason = "no GPU"},
              .config.verbose = 1,
              .ceilings = {8e9, 4e9, 4e10}},
      .result = {.ladder = &l, .partial = 1}};
  assert_string_equal(said(&run), ladder);
  run.rig.placement.info.emulated = 1;
  run.rig.placement.reason[0] = '\0';
  run.rig.ceilings.flops = 0;
  run.result.partial = l.shown = 0;
  sizes[0].n_series = sizes[1].n_series = 1;
  first[0].flop = 8000;
  last[0] = (struct gemm_series){&ours, .status = STATUS_ENVIRONMENT, .why = "too large", .flop = 8000};
  first[0].counts = (struct gemm_counts){1000, 800, 8000, 5, 0.004};
  assert_string_equal(said(&run), emulated_ladder);
}

static int dashes_print(void **state)
{
  return setenv("LC_ALL", "C.UTF-8", 1);
}

UNIT_MAIN(dashes_print, NULL)
