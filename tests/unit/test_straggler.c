/* SPDX-License-Identifier: MIT */
/* The simulated clock plants faults below the detector: all are named, nothing else is. */
#include "tests/unit/unit.h"

#include "himeno/clock.h"
#include "himeno/straggler.h"

#define BLOCKS     20
#define SWEEPS     120
#define FOUND_MAX  64
#define RANKS_MAX  64
#define CLEAN_RUNS 200

static int found_of;

/* One run of an L grid on so many ranks by the simulated clock. Returns how many stragglers it finds. */
static int run(int ranks, const char *clock, struct straggler found[FOUND_MAX])
{
  static struct record_block times[RANKS_MAX * BLOCKS];
  const int64_t global[3] = {256, 256, 512};
  const struct decomp_rules rules = {.depth = 1};
  struct straggler_work work[RANKS_MAX];
  int procs[3];
  double phases[HIMENO_PHASES], seconds;
  setenv("HIMENO_NULL_CLOCK", clock, 1);
  assert_int_equal(decomp_choose(ranks, global, 0, &rules, procs), STATUS_OK);
  for (int r = 0; r < ranks; r++) {
    struct decomp decomp;
    struct layout layout;
    struct halo_plan plan;
    decomp_init(&decomp, global, procs, r);
    assert_int_equal(layout_init(&layout, &decomp, 1, 0), STATUS_OK);
    halo_plan_init(&plan, &decomp, &layout, 1);
    work[r] = (struct straggler_work){(double)box_points(&decomp.owned), plan.n,
                                      (double)plan.floats * sizeof(float)};
    for (int b = 0; b < BLOCKS; b++) {
      struct clock_block block = {r, SWEEPS, b, work[r].points, &plan};
      clock_block(&block, phases, &seconds);
      times[r * BLOCKS + b] =
          (struct record_block){phases[PHASE_INTERIOR] + phases[PHASE_BOUNDARY], phases[PHASE_TRANSFER]};
    }
  }
  struct straggler_ranks in = {ranks, BLOCKS, times, work};
  return found_of = straggler_find(&in, found, FOUND_MAX);
}

static void two_hundred_clean_runs_accuse_nobody(void **state)
{
  static const int ranks[] = {4, 8, 16, 27, 32, 64};
  struct straggler found[FOUND_MAX];
  char clock[64];
  (void)state;
  for (size_t n = 0; n < sizeof ranks / sizeof *ranks; n++)
    for (int seed = 0; seed < CLEAN_RUNS; seed++) {
      snprintf(clock, sizeof clock, "seed=%d", seed);
      assert_int_equal(run(ranks[n], clock, found), 0);
    }
}

static void a_device_five_percent_slower_is_named_alone(void **state)
{
  static const int ranks[] = {8, 16, 32, 64};
  struct straggler found[FOUND_MAX];
  char clock[64];
  (void)state;
  for (size_t n = 0; n < sizeof ranks / sizeof *ranks; n++)
    for (int seed = 0; seed < 25; seed++) {
      int slow = seed * 7 % ranks[n];
      snprintf(clock, sizeof clock, "seed=%d device=%d:1.05", seed, slow);
      assert_int_equal(run(ranks[n], clock, found), 1);
      assert_int_equal(found[0].rank, slow);
      assert_int_equal(found[0].of, STRAGGLER_COMPUTE);
      assert_true(found[0].slowness > 1.04 && found[0].slowness < 1.06);
      assert_true(found[0].beyond > BLOCKS / 2);
    }
}

static void both_ends_of_a_bad_link_are_named_and_nobody_else(void **state)
{
  static const int ranks[] = {8, 16, 64};
  struct straggler found[FOUND_MAX];
  (void)state;
  for (size_t n = 0; n < sizeof ranks / sizeof *ranks; n++) {
    assert_int_equal(run(ranks[n], "seed=3 link=2-4:8", found), 2);
    assert_int_equal(found[0].rank + found[1].rank, 6);
    assert_int_equal(found[0].of, STRAGGLER_EXCHANGE);
    assert_int_equal(found[1].of, STRAGGLER_EXCHANGE);
  }
}

static void a_slow_device_and_a_bad_link_at_once(void **state)
{
  struct straggler found[FOUND_MAX];
  (void)state;
  assert_int_equal(run(32, "seed=5 device=17:1.05 link=2-4:8", found), 3);
  assert_int_equal(found[0].rank, 17);
  assert_int_equal(found[0].of, STRAGGLER_COMPUTE);
}

static void a_whole_host_of_eight_among_sixty_four(void **state)
{
  struct straggler found[FOUND_MAX];
  char clock[256] = "seed=9";
  int seen = 0;
  (void)state;
  for (int r = 24; r < 32; r++)
    snprintf(clock + strlen(clock), sizeof clock - strlen(clock), " device=%d:1.1", r);
  assert_int_equal(run(64, clock, found), 8);
  for (int f = 0; f < 8; f++) seen |= 1 << (found[f].rank - 24);
  assert_int_equal(seen, 255);
}

static void one_interrupted_block_accuses_nobody(void **state)
{
  struct record_block times[8 * BLOCKS];
  struct straggler_work work[8];
  struct straggler found[FOUND_MAX];
  (void)state;
  for (int r = 0; r < 8; r++) work[r] = (struct straggler_work){1000, 1, 100};
  for (int t = 0; t < 8 * BLOCKS; t++) times[t] = (struct record_block){1e-3 + 1e-6 * (t % 7), 1e-4};
  times[3 * BLOCKS + 5].compute = 1;
  struct straggler_ranks in = {8, BLOCKS, times, work};
  assert_int_equal(straggler_find(&in, found, FOUND_MAX), 0);
}

static void fewer_than_four_ranks_have_no_usual(void **state)
{
  struct straggler found[FOUND_MAX];
  (void)state;
  assert_int_equal(run(3, "seed=1 device=1:2", found), 0);
}

static void more_than_there_is_room_for_are_counted(void **state)
{
  struct straggler_ranks in;
  struct record_block times[8];
  struct straggler_work work[8];
  struct straggler found[1];
  (void)state;
  for (int r = 0; r < 8; r++)
    work[r] = (struct straggler_work){1, 1, 1}, times[r] = (struct record_block){r < 5 ? 1 : 2, 1};
  in = (struct straggler_ranks){8, 1, times, work};
  assert_int_equal(straggler_find(&in, found, 1), 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_hundred_clean_runs_accuse_nobody),
      cmocka_unit_test(a_device_five_percent_slower_is_named_alone),
      cmocka_unit_test(both_ends_of_a_bad_link_are_named_and_nobody_else),
      cmocka_unit_test(a_slow_device_and_a_bad_link_at_once),
      cmocka_unit_test(a_whole_host_of_eight_among_sixty_four),
      cmocka_unit_test(one_interrupted_block_accuses_nobody),
      cmocka_unit_test(fewer_than_four_ranks_have_no_usual),
      cmocka_unit_test(more_than_there_is_room_for_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
