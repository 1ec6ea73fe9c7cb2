/* SPDX-License-Identifier: MIT */
/* The grid of a distributed product: every element of C has a rank, panels depend only on k, and
 * auto takes the grid with the least traffic. */
#include "tests/unit/unit.h"

#include "base/log.h"
#include "gemm/cluster/panels.h"

TEST(blocks_cover_a_dimension)
{
  for (int64_t extent = 1; extent < 30; extent++)
    for (int parts = 1; parts < 40; parts++) {
      int64_t end = 0;
      for (int at = 0; at < parts; at++) {
        struct gemm_span s = gemm_grid_span(extent, parts, at);
        assert_true(s.extent >= 1 && s.extent <= (extent + parts - 1) / parts);
        assert_true(s.begin == end || s.begin == end - 1);
        if (parts <= extent) assert_true(s.begin == end && s.extent >= extent / parts);
        end = s.begin + s.extent;
      }
      assert_int_equal(end, extent);
    }
}

TEST(panels_are_even_and_of_one_width)
{
  static const struct {
    enum gemm_type type;
    int64_t k, asked;
    int is_cpu;
    int64_t width;
  } cases[] = {{GEMM_F32, 16384, 0, 0, 8192},   {GEMM_F32, 16384, 0, 1, 256},
               {GEMM_F32, 16384, 100, 1, 100},  {GEMM_BF16, 16384, 0, 0, 16384},
               {GEMM_BF16, 65536, 0, 0, 32768}, {GEMM_BF16, 36000, 0, 0, 18048},
               {GEMM_BF16, 70, 0, 0, 70},       {GEMM_BF16, 70, 100, 0, 70}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const struct gemm_problem p = {.type = cases[c].type, .m = 1, .n = 1, .k = cases[c].k};
    assert_int_equal(gemm_grid_width(&p, cases[c].asked, cases[c].is_cpu), cases[c].width);
  }
}

static void assert_grid(int64_t m, int64_t n, int weak, int ranks, int rows, int columns)
{
  const struct gemm_problem p = {.m = m, .n = n, .k = 4096};
  struct gemm_grid g;
  int procs[2];
  assert_int_equal(gemm_grid_choose(&p, weak, ranks, (const int[2]){0, 0}, 512, procs), STATUS_OK);
  gemm_grid_init(&g, &p, procs, ranks - 1, 512);
  assert_memory_equal(g.procs, ((int[]){rows, columns}), sizeof g.procs);
  assert_memory_equal(g.at, ((int[]){rows - 1, columns - 1}), sizeof g.at);
  assert_int_equal(g.panels, 8);
}

/* With --weak, if a rank's own block of C is tall, B is communicated: its slices are smaller. */
TEST(auto_takes_the_least_traffic)
{
  assert_grid(8192, 8192, 0, 4, 2, 2);
  assert_grid(65536, 1024, 0, 4, 4, 1);
  assert_grid(1024, 65536, 0, 4, 1, 4);
  assert_grid(8192, 8192, 0, 12, 3, 4);
  assert_grid(8192, 8192, 0, 7, 1, 7);
  assert_grid(1, 8192, 0, 4, 1, 4);
  assert_grid(65536, 1024, 1, 4, 4, 1);
  assert_grid(1024, 65536, 1, 4, 1, 4);
}

TEST(a_grid_must_multiply_to_the_ranks)
{
  const struct gemm_problem p = {.m = 64, .n = 64, .k = 64};
  struct gemm_grid g;
  int procs[2];
  log_mute(1);
  assert_int_equal(gemm_grid_choose(&p, 0, 4, (const int[2]){3, 2}, 64, procs), STATUS_USAGE);
  log_mute(0);
  assert_int_equal(gemm_grid_choose(&p, 0, 6, (const int[2]){3, 2}, 64, procs), STATUS_OK);
  gemm_grid_init(&g, &p, procs, 4, 64);
  assert_int_equal(g.at[0], 2);
  assert_int_equal(g.at[1], 0);
}

/* The slices of a ring cover its rows and columns of C once. Columns begin only where a part of C
 * may begin. */
TEST(slices_cover_a_block)
{
  for (int ring = 1; ring < 9; ring++)
    for (int64_t extent = 1; extent < 2000; extent += 17) {
      const struct gemm_grid g = {.procs = {ring, ring}, .m = {3, extent}, .n = {5, extent}};
      int64_t rows = 0, columns = 0;
      for (int place = 0; place < ring; place++) {
        struct gemm_span a = gemm_panels_slice(&g, GEMM_A, place), b = gemm_panels_slice(&g, GEMM_B, place);
        assert_true(a.begin == rows && b.begin == columns && a.extent >= 0 && b.extent >= 0);
        assert_true(b.begin % GEMM_C_STEP == 0 || b.extent == 0);
        if (place == 0) assert_true(a.extent > 0 && b.extent > 0);
        rows += a.extent;
        columns += b.extent;
      }
      assert_true(rows == extent && columns == extent);
    }
}

/* A rank stores its slices, and in a ring of four also what each of the three steps brings. */
TEST(memory_is_reckoned)
{
  const struct gemm_problem local = {.m = 100, .n = 50, .k = 1000};
  const struct gemm_grid alone = {.procs = {1, 1}, .m = {0, 100}, .n = {0, 50}, .width = 250, .panels = 4};
  struct gemm_grid ring = alone;
  ring.procs[1] = 2;
  assert_int_equal(gemm_panels_ld(&local, &alone, GEMM_A), 256);
  assert_int_equal(gemm_panels_bytes(&local, &alone, GEMM_A), 4 * 100 * 256 * 4);
  assert_int_equal(gemm_panels_bytes(&local, &ring, GEMM_A), 4 * 50 * 256 * 4 + 4 * 50 * 256 * 4);
  ring.procs[1] = 4;
  assert_int_equal(gemm_panels_bytes(&local, &ring, GEMM_A), 4 * 25 * 256 * 4 + 4 * 3 * 25 * 256 * 4);
  assert_int_equal(gemm_panels_bytes(&local, &ring, GEMM_B), 4 * 250 * 64 * 4);
}

UNIT_MAIN(NULL, NULL)
