/* SPDX-License-Identifier: MIT */
/* Compares the roofline model with figures computed by hand, and a report with its text. */
#include "tests/unit/unit.h"

#include "gemm/report/report.h"

static const struct gemm_machine machine = {
    .ceilings = {.flops = 1e12, .bytes_per_second = 1e11, .local_bytes_per_second = 1e12}, .units = 4};

/* An AMD Radeon R9 Fury X: 64 units at 1.05 GHz, each of which reads 128 bytes of local memory per
 * clock. */
static const struct gemm_machine fury_x = {
    .ceilings = {.flops = 8601.6e9, .bytes_per_second = 392e9, .local_bytes_per_second = 8601.6e9},
    .units = 64};

static double gflops(const struct gemm_machine *on, int64_t side, const struct gemm_blocks *blocks)
{
  const struct gemm_problem p = {.m = side, .n = side, .k = side, .alpha = 1};
  return gemm_flop(&p) / gemm_predict(on, &p, blocks).seconds / 1e9;
}

static struct gemm_prediction predict(int64_t side, const struct gemm_blocks *blocks)
{
  const struct gemm_problem p = {.m = side, .n = side, .k = side, .alpha = 1};
  return gemm_predict(&machine, &p, blocks);
}

static void assert_near(double value, double expected)
{
  if (value < expected * 0.995 || value > expected * 1.005) fail_msg("%g, not %g", value, expected);
}

/* 0.25 operations per byte, as in the seminar, allow 98 GFLOPS on its device. */
static void an_element_a_work_item_is_bound_by_device_memory(void **state)
{
  const struct gemm_blocks naive = {.group_m = 16, .group_n = 16, .item_m = 1, .item_n = 1, .stages = 1};
  struct gemm_prediction p = predict(4096, &naive);
  assert_near(p.device_intensity, 0.25);
  assert_int_equal(p.bound, GEMM_BOUND_DEVICE);
  assert_near(gflops(&machine, 4096, &naive), 25);
  assert_near(gflops(&fury_x, 4096, &naive), 98);
}

static void intensity_is_a_quarter_of_a_square_block_s_side(void **state)
{
  for (int side = 2; side <= 128; side *= 2) {
    const struct gemm_blocks b = {
        .group_m = side, .group_n = side, .item_m = side, .item_n = side, .stages = 1};
    assert_near(predict(4096, &b).device_intensity, side / 4.0);
  }
}

/* A row with one number costs a sector of 32 bytes: with 128 such rows, and 128 numbers in one row,
 * a step reads 4608 bytes. */
static void a_column_read_number_by_number_costs_whole_sectors(void **state)
{
  struct gemm_blocks b = {
      .group_m = 128, .group_n = 128, .group_k = 1, .item_m = 8, .item_n = 8, .stages = 1};
  assert_near(predict(4096, &b).device_intensity, 2.0 * 128 * 128 / 4608);
  b.group_k = 8;
  assert_near(predict(4096, &b).device_intensity, 32);
}

/* On each step of the ladder, the times of two parts overlap that were added before. */
static void what_overlaps_counts_once(void **state)
{
  struct gemm_blocks b = {
      .group_m = 128, .group_n = 128, .group_k = 8, .item_m = 8, .item_n = 8, .stages = 1};
  double unroll = gflops(&fury_x, 4096, &b), pipeline, lds;
  b.stages = 2;
  pipeline = gflops(&fury_x, 4096, &b);
  b.ahead = 1;
  lds = gflops(&fury_x, 4096, &b);
  assert_true(unroll < pipeline && pipeline < lds);
  /* 64 multiply-adds and 4 reads of four numbers: 94.1% of the issue slots multiply. */
  assert_near(lds, 8601.6 * 64 / 68);
  assert_int_equal(gemm_predict(&fury_x, &(struct gemm_problem){.m = 4096, .n = 4096, .k = 4096}, &b).bound,
                   GEMM_BOUND_ARITHMETIC);
}

static void tiles_that_leave_units_idle_and_parts_of_k_that_do_not(void **state)
{
  struct gemm_blocks b = {.group_m = 128,
                          .group_n = 128,
                          .group_k = 8,
                          .item_m = 8,
                          .item_n = 8,
                          .stages = 2,
                          .ahead = 1,
                          .splits = 1};
  struct gemm_problem p = {.m = 128, .n = 128, .k = 65536, .alpha = 1};
  double whole = gemm_predict(&machine, &p, &b).seconds;
  assert_near(gemm_predict(&machine, &p, &b).filled, 0.25);
  b.splits = 4;
  assert_near(gemm_predict(&machine, &p, &b).filled, 1);
  assert_true(gemm_predict(&machine, &p, &b).seconds < whole / 3);
  p.m = 129;
  b.splits = 1;
  assert_near(gemm_predict(&machine, &p, &b).filled, 129.0 / 256 * 2 / 4);
}

static void without_blocks_or_a_peak_there_is_no_prediction(void **state)
{
  const struct gemm_blocks none = {0}, some = {.group_m = 8, .group_n = 8, .item_m = 8, .item_n = 8};
  const struct gemm_machine unknown = {.units = 1};
  const struct gemm_problem p = {.m = 8, .n = 8, .k = 8};
  assert_true(predict(64, &none).seconds == 0);
  assert_true(gemm_predict(&unknown, &p, &some).seconds == 0);
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

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_element_a_work_item_is_bound_by_device_memory),
                                     cmocka_unit_test(intensity_is_a_quarter_of_a_square_block_s_side),
                                     cmocka_unit_test(a_column_read_number_by_number_costs_whole_sectors),
                                     cmocka_unit_test(what_overlaps_counts_once),
                                     cmocka_unit_test(tiles_that_leave_units_idle_and_parts_of_k_that_do_not),
                                     cmocka_unit_test(without_blocks_or_a_peak_there_is_no_prediction),
                                     cmocka_unit_test(a_report_lists_64_wrong_ranks_and_counts_the_others)};
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
