/* SPDX-License-Identifier: MIT */
/* Transient slowdowns must be found with their begin and end, and nothing else may be found. */
#include "tests/unit/unit.h"

#include <math.h>

#include "base/hash.h"
#include "judge/slowdown.h"
#include "himeno/result/ranks.h"

#define BLOCKS 200
#define RANKS  8
#define FOUND  16

static struct judge_block times[RANKS * BLOCKS];
static struct judge_end when[BLOCKS];
static struct slowdown found[FOUND]; /* by find() */
static uint64_t seed;

/* Returns a nearly normal random number with mean 0 and standard deviation 1. */
static double normal(void)
{
  double sum = -6;
  for (int n = 0; n < 12; n++) sum += (double)(hash_mix(++seed) >> 11) * 0x1p-53;
  return sum;
}

/* Makes ten minutes of blocks of 3 s with this noise, of which some are interrupted. */
static void fill(int ranks, double noise, double interrupted)
{
  for (int b = 0; b < BLOCKS; b++) when[b] = (struct judge_end){3.0 * (b + 1), 10 * b + 9};
  for (int t = 0; t < ranks * BLOCKS; t++) {
    int is = (double)(hash_mix(++seed) >> 11) * 0x1p-53 < interrupted;
    times[t] =
        (struct judge_block){1e-3 * (1 + noise * normal()) * (is ? 2.95 : 1), 1e-5 * (1 + 0.05 * normal())};
  }
}

static void slow(int rank, int first, int blocks, double by)
{
  for (int b = first; b < first + blocks; b++) times[rank * BLOCKS + b].compute *= by;
}

static int find(int ranks)
{
  struct slowdown_ranks in = {ranks, BLOCKS, times, when};
  return slowdown_find(&in, found, FOUND);
}

/* The slowdown of 5% lasts 30 s of 600 s, at any time, with 0.3% noise. */
TEST(half_a_minute_at_five_percent_is_found)
{
  seed = 1;
  for (int run = 0; run < 1000; run++) {
    int rank = run % RANKS, first = run * 7 % (BLOCKS - 10);
    fill(RANKS, 0.003, 0);
    slow(rank, first, 10, 1.05);
    assert_int_equal(find(RANKS), 1);
    assert_int_equal(found[0].rank, rank);
    assert_int_equal(found[0].of, JUDGE_COMPUTE);
    assert_true(fabs(found[0].slowness - 1.05) < 0.01);
    assert_true(fabs(found[0].begin - 3.0 * first) < 1e-9);
    assert_true(fabs(found[0].end - 3.0 * (first + 10)) < 1e-9);
    assert_int_equal(found[0].first, first * 10);
    assert_int_equal(found[0].last, first * 10 + 99);
    assert_int_equal(found[0].beyond, 10);
  }
}

/* Simulates 1000 hours of a device in runs of ten minutes, in which 1% of blocks are interrupted,
 * and a host that disturbs one block in five. */
TEST(interrupted_and_disturbed_blocks_are_none)
{
  static const struct {
    int runs, ranks;
    double noise, interrupted;
  } hosts[] = {{6000 / RANKS, RANKS, 0.003, 0.01}, {500, 1, 0.01, 0.2}};
  for (int h = 0; h < 2; h++) {
    int alarms = 0;
    seed = 2 + (uint64_t)h;
    for (int run = 0; run < hosts[h].runs; run++) {
      fill(hosts[h].ranks, hosts[h].noise, hosts[h].interrupted);
      alarms += find(hosts[h].ranks);
    }
    assert_true(alarms <= 1);
  }
}

TEST(what_is_short_or_shallow_or_noisy_is_none)
{
  seed = 4;
  fill(1, 0.003, 0);
  slow(0, 50, 10, 1.02); /* too small a slowdown to act on */
  assert_int_equal(find(1), 0);
  fill(1, 0.003, 0);
  slow(0, 50, 2, 3);
  assert_int_equal(find(1), 0);
  fill(1, 0.03, 0); /* five deviations are 15% */
  slow(0, 50, 10, 1.05);
  assert_int_equal(find(1), 0);
  fill(1, 0.003, 0);
  slow(0, 0, BLOCKS, 1.05); /* its usual */
  assert_int_equal(find(1), 0);
  fill(1, 0.003, 0);
  slow(0, 50, 10, 1.5);
  for (int b = 0; b < BLOCKS; b++) when[b].end = 0.1 * (b + 1); /* one second of twenty */
  assert_int_equal(find(1), 0);
}

TEST(two_of_one_rank_and_one_of_another)
{
  seed = 5;
  fill(3, 0.003, 0);
  slow(0, 0, 12, 1.2);
  slow(0, 100, 40, 1.4);
  times[110].compute = 1e-3; /* one good block does not end a slowdown */
  for (int b = 180; b < BLOCKS; b++) times[2 * BLOCKS + b].exchange *= 4;
  for (int b = 105; b < 135; b++) times[BLOCKS + b].compute *= 1.2; /* rank 1 waits for it */
  for (int b = 100; b < 140; b++) times[BLOCKS + b].exchange *= 9;
  assert_int_equal(find(3), 3);
  assert_int_equal(found[0].first, 1000);
  assert_int_equal(found[0].beyond, 39);
  assert_int_equal(found[0].blocks, 40);
  assert_true(found[1].begin == 0 && found[1].first == 0);
  assert_int_equal(found[2].rank, 2);
  assert_int_equal(found[2].of, JUDGE_EXCHANGE);
  assert_true(found[2].end == 600);
  struct slowdown_ranks in = {3, BLOCKS, times, when};
  assert_int_equal(slowdown_find(&in, found, 1), 5); /* all are counted */
  in.blocks = 0;
  assert_int_equal(slowdown_find(&in, found, 1), 0);
}

/* A block in four is disturbed. With more ranks, more slow blocks in a row are due to chance. */
TEST(with_more_ranks_a_slowdown_needs_more_blocks)
{
  for (int ranks = 1; ranks <= RANKS; ranks += RANKS - 1)
    for (int n = 8; n <= 12; n++) {
      seed = 8;
      fill(ranks, 0.003, 0);
      for (int b = 0; b < BLOCKS; b += 4) times[b].compute *= 2;
      slow(0, 50, n, 1.5);
      assert_int_equal(find(ranks), n >= (ranks > 1 ? 12 : 9));
    }
}

/* Another program computes, pauses for a second, and computes again. */
TEST(a_pause_of_two_blocks_parts_none)
{
  seed = 6;
  fill(1, 0.003, 0);
  for (int b = 0; b < BLOCKS; b++) when[b].end = 0.5 * (b + 1);
  slow(0, 70, 5, 1.6);
  slow(0, 77, 30, 1.4);
  slow(0, 110, 2, 1.4);
  slow(0, 115, 1, 1.4); /* one such block alone could be chance */
  slow(0, 123, 3, 1.4); /* behind a longer pause */
  assert_int_equal(find(1), 1);
  assert_true(found[0].begin == 35 && found[0].end == 56);
  assert_true(found[0].first == 700 && found[0].last == 1119);
  assert_int_equal(found[0].beyond, 37);
  assert_int_equal(found[0].blocks, 42);
}

/* Two H100 have size L each, by p2p. Another program uses the second for a fifth of the run. The
 * first needs 606 us per sweep, and 1286 us while it waits for the second, which needs 1271 us. */
TEST(who_waits_for_a_slow_one_is_not_slow)
{
  const struct himeno_rank rank = {.points = 254LL * 254 * 510, .ceiling = 3.05e12};
  const double usual = 606e-6, waits[2] = {920e-6, 3e-6}, slowed[2] = {1286e-6, 1271e-6};
  seed = 7;
  fill(2, 0.003, 0);
  for (int t = 0; t < 2 * BLOCKS; t++) {
    int r = t / BLOCKS, slow = t % BLOCKS >= 80 && t % BLOCKS < 120;
    double seconds = (slow ? slowed[r] : usual) * times[t].compute / 1e-3;
    times[t].compute = himeno_own_seconds(&rank, seconds, slow ? waits[r] : 1.4e-6);
  }
  assert_int_equal(find(2), 1);
  assert_int_equal(found[0].rank, 1);
  assert_true(found[0].first == 800 && found[0].last == 1199);
}

/* A wait is subtracted, but not below the time at the device's ceiling. It is not subtracted if
 * that is unknown, or if the grid fits in a cache. */
TEST(waits_are_taken_off_down_to_the_ceiling)
{
  struct himeno_rank rank = {.points = 1000000, .ceiling = 56e9};
  assert_true(fabs(himeno_own_seconds(&rank, 3e-3, 0.5e-3) - 2.5e-3) < 1e-12);
  assert_true(fabs(himeno_own_seconds(&rank, 3e-3, 2.5e-3) - 1e-3) < 1e-12);
  assert_true(fabs(himeno_own_seconds(&rank, 0.4e-3, 0.1e-3) - 0.4e-3) < 1e-12);
  rank.ceiling = 0;
  assert_true(himeno_own_seconds(&rank, 3e-3, 2.5e-3) == 3e-3);
}

/* In three of five blocks a CPU waited so long that only its ceiling's time is left, which never
 * varies. */
TEST(a_time_that_is_the_ceilings_is_as_noisy_as_that)
{
  static const double waits[] = {2.5e-3, 2.5e-3, 2.5e-3, 2.4e-3, 2.4e-3};
  struct himeno_rank rank = {.points = 1000000, .ceiling = 56e9, .ceiling_noise = 0.07};
  double own[5];
  for (int b = 0; b < 5; b++) own[b] = himeno_own_seconds(&rank, 3e-3, waits[b]);
  const struct stats_summary taken = stats_summarise(own, 5);
  assert_true(himeno_own_noise(&rank, &taken) == 0);
  rank.row.info.is_cpu = 1;
  assert_true(himeno_own_noise(&rank, &taken) == 0.07);
  for (int b = 0; b < 5; b++) own[b] = himeno_own_seconds(&rank, 3e-3 * (1 + 0.01 * b), 1e-3);
  const struct stats_summary kept = stats_summarise(own, 5);
  assert_true(himeno_own_noise(&rank, &kept) == stats_noise_max(&kept));
}

UNIT_MAIN(NULL, NULL)
