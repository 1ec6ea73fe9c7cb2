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
static void predictions_follow_from_the_blocks_and_the_machine(void **state)
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

static void a_report_lists_64_wrong_ranks_and_counts_the_others(void **state)
{
  static struct gemm_rank ranks[66];
  static char text[1 << 16], wrong[1 << 13], warned[1 << 13];
  struct gemm_series series = {.kernel = gemm_kernels_find("cpu")->kernels[0]};
  struct gemm_run run = {.rig.placement = {.ranks = 66, .backend = &gpu_backend_cpu},
                         .result = {.series = &series, .ranks = ranks, .verdict = STATUS_WRONG}};
  FILE *out = fmemopen(text, sizeof text, "w");
  int used = sprintf(wrong, "  verdict    WRONG: 65 of 66 ranks: the product differs from the reference "
                            "result\n"),
      end = 0;
  for (int r = 1; r < 66; r++) {
    struct rank_row *row = &ranks[r].row;
    sprintf(row->host, "n%d", r), sprintf(ranks[r].fault, "f%d", r), sprintf(ranks[r].warning, "w%d", r);
    if (r == 65) break;
    used += sprintf(wrong + used, "  wrong      rank %d on n%d, device %s: f%d\n", r, r, rank_device(row), r);
    end += sprintf(warned + end, "  WARNING    WRONG on rank %d on n%d, device %s: w%d\n", r, r,
                   rank_device(row), r);
  }
  strcpy(wrong + used, "  ... and 1 more: see --json\n"), strcpy(warned + end, wrong + used);
  gemm_report_text(&run, out);
  fclose(out);
  assert_non_null(strstr(text, wrong));
  assert_non_null(strstr(text, warned));
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
    "      tile -; – threads, – registers\n"
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

static void a_ladder_has_a_table_per_size_and_the_shares(void **state)
{
  static const struct gemm_kernel ours = {.name = "ours", .step = "our step", .rung = 3},
                                  other = {.name = "other", .step = "another step", .rung = 4},
                                  library = {.name = "lib", .step = "a library", .is_reference = 1};
  static double even[] = {1, 1, 1}, uneven[] = {1, 1.1, 1.3};
  static struct gemm_series first[] = {{&ours, .flop = 2e9, .seconds = 0.5, .samples = even, .n_samples = 3,
                                        .blocks = {64, 32, 16, 8, 4, .splits = 2},
                                        .predicted = {0.4, .bound = GEMM_BOUND_DEVICE},
                                        .resources = {128, 99, 512}, .check.how = GEMM_VERIFIED_FULL},
                                       {&other, .status = STATUS_ENVIRONMENT, .why = "needs more"},
                                       {&library, .flop = 2e9, .seconds = 0.25, .samples = uneven,
                                        .n_samples = 3}},
                            last[] = {{&ours, .flop = 2e9, .seconds = 1, .samples = uneven, .n_samples = 3},
                                      {.kernel = &other},
                                      {&library, .status = STATUS_WRONG, .why = "gives a wrong result"}};
  struct gemm_ladder_size sizes[] = {{{.m = 10, .n = 20, .k = 30}, first, 3},
                                     {{.m = 90, .n = 2, .k = 3}, last, 3}};
  struct gemm_ladder l = {.sizes = sizes, .n = 2};
  const struct gemm_run run = {
      .rig = {.placement = {.ranks = 2, .backend = &gpu_backend_cpu, .info.name = "CPU", .reason = "no GPU"},
              .config.verbose = 1,
              .ceilings = {8e9, 4e9, 4e10}},
      .result = {.ladder = &l, .partial = 1}};
  char text[1 << 13];
  FILE *out = fmemopen(text, sizeof text, "w");
  gemm_ladder_text(&run, out);
  fclose(out);
  assert_string_equal(strchr(text, ','), ladder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(predictions_follow_from_the_blocks_and_the_machine),
                                     cmocka_unit_test(a_report_lists_64_wrong_ranks_and_counts_the_others),
                                     cmocka_unit_test(a_ladder_has_a_table_per_size_and_the_shares)};
  setenv("LC_ALL", "C.UTF-8", 1);
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
