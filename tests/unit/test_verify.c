/* SPDX-License-Identifier: MIT */
/* A result is correct only if it was compared and is equal. The known values must be those of the
 * golden table. */
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <math.h>

#include "base/log.h"
#include "comm/halo/grid.h"
#include "himeno/config/cmdline.h"
#include "himeno/verify/verify.h"

static struct solver_check intermediate[] = {{4, 0.75, 0x44}, {8, 0.625, 0x88}, {10, 0.5, 0x1234}};
static const struct verify_value expected = {VERIFY_KNOWN, 10, 0.5, 0x1234, intermediate, 3, 0};

static status_t verdict_of(const struct solver_block *block)
{
  log_hold(1);
  status_t status = verify_block(&expected, block, "block");
  log_drop();
  log_hold(0);
  return status;
}

static status_t verdict(double gosa, uint64_t checksum)
{
  return verdict_of(&(struct solver_block){.sweeps = 10, .gosa = gosa, .checksum = checksum});
}

/* Returns the verdict of a block that ends as expected, with these values after \a sweeps. */
static status_t verdict_at(int sweeps, double gosa, uint64_t checksum)
{
  const struct solver_check checks[] = {{sweeps, gosa, checksum}, {10, 0.5, 0x1234}};
  return verdict_of(
      &(struct solver_block){.sweeps = 10, .gosa = 0.5, .checksum = 0x1234, .checks = checks, .n_checks = 2});
}

TEST(a_check_point_is_compared_where_both_have_it)
{
  assert_int_equal(verdict_at(4, 0.75, 0x44), STATUS_OK);
  assert_int_equal(verdict_at(8, 0.625, 0x88), STATUS_OK);
  assert_int_equal(verdict_at(4, 0.75, 0x45), STATUS_WRONG);
  assert_int_equal(verdict_at(8, 0.625, 0x44), STATUS_WRONG);
  assert_int_equal(verdict_at(8, 0.625 * (1 + 5e-9), 0x88), STATUS_WRONG);
  assert_int_equal(verdict_at(6, 0.1, 0x1), STATUS_OK);
}

TEST(one_bit_of_the_checksum_is_wrong)
{
  for (int bit = 0; bit < 64; bit++)
    assert_int_equal(verdict(0.5, 0x1234 ^ (uint64_t)1 << bit), STATUS_WRONG);
}

TEST(gosa_beyond_the_tolerance_is_wrong)
{
  assert_int_equal(verdict(0.5, 0x1234), STATUS_OK);
  assert_int_equal(verdict(0.5 * (1 + 5e-10), 0x1234), STATUS_OK);
  assert_int_equal(verdict(0.5 * (1 + 5e-9), 0x1234), STATUS_WRONG);
  assert_int_equal(verdict(0.0, 0x1234), STATUS_WRONG);
  assert_int_equal(verdict(NAN, 0x1234), STATUS_WRONG);
  assert_int_equal(verdict(INFINITY, 0x1234), STATUS_WRONG);
}

static const struct solver_check *known_check(const int64_t extent[3], enum himeno_data data, int sweeps)
{
  int from = 0;
  const struct himeno_known *known = himeno_known_find(extent, data);
  return known ? solver_check_seek(known->checks, KNOWN_CHECKS, sweeps, &from) : NULL;
}

/* Changes from the edges do not reach the centre: in XS up to 12 sweeps, in S up to 60. */
TEST(standard_data_have_the_known_values_without_a_solver)
{
  static const int lengths[] = {1, 3, 10, 12, 60, 120};
  struct solver_config config = {.comm = MPI_COMM_SELF, .kernel = himeno_kernel_reference};
  struct verify_value value;
  for (int n = 0; n < 2; n++)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      memcpy(config.global, grid_size_named(n)->extent, sizeof config.global);
      assert_int_equal(verify_uniform(&config, 1000, lengths[l], &value), STATUS_OK);
      assert_int_equal(value.coefficients, himeno_known_find(config.global, HIMENO_STANDARD)->coefficients);
      assert_int_equal(value.sweeps, lengths[l]);
      assert_int_equal(value.n_checks, (lengths[l] + 11) / 12);
      for (int c = 0; c < value.n_checks; c++) {
        const struct solver_check *check = &value.checks[c],
                                  *known = known_check(config.global, HIMENO_STANDARD, check->sweeps);
        assert_int_equal(check->checksum, known->checksum);
        assert_true(fabs(check->gosa - known->gosa) <= 1e-12 * known->gosa);
      }
      assert_true(value.checksum == value.checks[value.n_checks - 1].checksum);
      verify_value_free(&value);
    }
}

/* ---- a clock: a sweep takes 1 s, after 20 s `late`, and a checksum with its gosa 10 s ---- */

static struct {
  int sweeping;
  double now, late; /* late is 0: the clock is off */
} virtual_clock;

double __real_stats_now(void);
double __wrap_stats_now(void);
double __wrap_stats_now(void)
{
  if (virtual_clock.late == 0) return __real_stats_now();
  virtual_clock.now += virtual_clock.sweeping * (virtual_clock.now < 20 ? 1 : virtual_clock.late);
  virtual_clock.sweeping = !virtual_clock.sweeping;
  return virtual_clock.now;
}

status_t __real_watch_allreduce(MPI_Comm comm, const void *send, void *receive, int count, MPI_Datatype type,
                                MPI_Op op, const char *what);
status_t __wrap_watch_allreduce(MPI_Comm comm, const void *send, void *receive, int count, MPI_Datatype type,
                                MPI_Op op, const char *what);
status_t __wrap_watch_allreduce(MPI_Comm comm, const void *send, void *receive, int count, MPI_Datatype type,
                                MPI_Op op, const char *what)
{
  if (strcmp(what, "the reference") == 0) virtual_clock.now += 5;
  virtual_clock.sweeping = 0;
  return __real_watch_allreduce(comm, send, receive, count, type, op, what);
}

TEST(check_points_are_left_out_rather_than_the_end)
{
  static const struct {
    double limit;
    int sweeps, checks;
    double late;
  } runs[] = {{0, 12, 1, 1},    {100, 12, 1, 1},   {141, 120, 2, 1},   {140, 12, 1, 1},
              {200, 120, 7, 1}, {235, 120, 10, 1}, {1000, 120, 10, 1}, {145, 36, 2, 3}};
  struct solver_config config = {.comm = MPI_COMM_SELF, .kernel = himeno_kernel_reference};
  struct verify_value value;
  memcpy(config.global, grid_size_named(0)->extent, sizeof config.global);
  for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
    virtual_clock.now = 0;
    virtual_clock.late = runs[r].late;
    assert_int_equal(verify_uniform(&config, runs[r].limit, 120, &value), STATUS_OK);
    assert_int_equal(value.sweeps, runs[r].sweeps);
    assert_int_equal(value.n_checks, runs[r].checks);
    for (int c = 0; c < value.n_checks; c++)
      assert_int_equal(value.checks[c].checksum,
                       known_check(config.global, HIMENO_STANDARD, value.checks[c].sweeps)->checksum);
    assert_int_equal(value.sweeps, value.checks[value.n_checks - 1].sweeps);
    verify_value_free(&value);
  }
  virtual_clock.late = 0;
}

/* For size L per rank (-w) on a few ranks, stored values save a slow host the computation. */
TEST(weak_grids_of_a_few_ranks_are_known)
{
  for (int ranks = 2; ranks <= 16; ranks++)
    for (int data = HIMENO_STANDARD; data <= HIMENO_DENSE; data++) {
      const int64_t extent[3] = {254 * ranks + 2, 256, 512};
      const struct himeno_known *known = himeno_known_find(extent, (enum himeno_data)data);
      int from = 0;
      assert_non_null(known);
      for (int sweeps = 12; sweeps <= 120; sweeps += 12)
        assert_non_null(solver_check_seek(known->checks, KNOWN_CHECKS, sweeps, &from));
    }
}

/* Every line of the golden table for a named size must be among the known values, and equal. */
TEST(known_values_are_the_golden_ones)
{
  char line[256], data[16], size[32], path[4096];
  struct grid_size parsed;
  int sweeps, compared = 0;
  double gosa;
  uint64_t checksum;
  const char *source = getenv("top_srcdir");
  snprintf(path, sizeof path, "%s/tests/golden/himeno.csv", source ? source : ".");
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%15[^,],%31[^,],%d,%lf,%" SCNx64, data, size, &sweeps, &gosa, &checksum) != 5) continue;
    assert_int_equal(grid_size_parse("--size", size, &parsed), STATUS_OK);
    if (strcmp(parsed.name, size) == 0) continue;
    const struct solver_check *known =
        known_check(parsed.extent, strcmp(data, "dense") ? HIMENO_STANDARD : HIMENO_DENSE, sweeps);
    assert_non_null(known);
    assert_int_equal(known->checksum, checksum);
    assert_true(fabs(known->gosa - gosa) <= VERIFY_GOSA_TOLERANCE * gosa);
    compared++;
  }
  fclose(file);
  assert_int_equal(compared, 30);
}

TEST(every_named_size_and_no_other_has_its_check_points_and_constants)
{
  assert_null(known_check((int64_t[]){32, 32, 64}, HIMENO_DENSE, 11));
  assert_null(known_check((int64_t[]){512, 512, 1024}, HIMENO_DENSE, 100));
  assert_null(himeno_known_find((int64_t[]){32, 32, 65}, HIMENO_DENSE));
  for (int n = 0; n < grid_size_count(); n++)
    for (int data = 0; data < 2; data++) {
      const int64_t *extent = grid_size_named(n)->extent;
      assert_non_null(himeno_known_find(extent, (enum himeno_data)data));
      for (int at = SOLVER_CHECK_SWEEPS; at <= HIMENO_BLOCK_SWEEPS; at += SOLVER_CHECK_SWEEPS)
        assert_non_null(known_check(extent, (enum himeno_data)data, at));
    }
}

UNIT_MAIN_MPI(NULL, NULL)
