/* SPDX-License-Identifier: MIT */
/* A simulated machine plants faults below the detector: all must be named, and nothing else. */
#include "tests/unit/unit.h"

#include "tests/unit/machine.h"

#define BLOCKS     20
#define FOUND_MAX  64
#define RANKS_MAX  64
#define CLEAN_RUNS 200

static int found_of;

/* Runs an L grid on \a ranks ranks; returns the number of stragglers found. */
static int run(int ranks, const struct machine *machine, struct straggler found[FOUND_MAX])
{
  static struct judge_block times[RANKS_MAX * BLOCKS];
  const int64_t global[3] = {256, 256, 512};
  const struct decomp_rules rules = {.depth = 1};
  struct straggler_work work[RANKS_MAX];
  int procs[3];
  assert_int_equal(decomp_choose(ranks, global, 0, &rules, procs), STATUS_OK);
  for (int r = 0; r < ranks; r++) {
    struct decomp decomp;
    struct layout layout;
    struct halo_plan plan;
    decomp_init(&decomp, global, procs, r);
    assert_int_equal(layout_init(&layout, &decomp, 1, 0), STATUS_OK);
    halo_plan_init(&plan, &decomp, &layout, 1);
    work[r] = (struct straggler_work){(double)box_points(&decomp.owned), plan.n,
                                      (double)plan.floats * sizeof(float), 0, 0};
    for (int b = 0; b < BLOCKS; b++)
      times[r * BLOCKS + b] = machine_block(machine, r, b, work[r].points, &plan);
  }
  struct straggler_ranks in = {ranks, BLOCKS, times, work};
  return found_of = straggler_find(&in, found, FOUND_MAX);
}

TEST(two_hundred_clean_runs_accuse_nobody)
{
  static const int ranks[] = {4, 8, 16, 27, 32, 64};
  struct straggler found[FOUND_MAX];
  for (size_t n = 0; n < sizeof ranks / sizeof *ranks; n++)
    for (uint64_t seed = 0; seed < CLEAN_RUNS; seed++)
      assert_int_equal(run(ranks[n], &(struct machine){.seed = seed}, found), 0);
}

TEST(a_device_five_percent_slower_is_named_alone)
{
  static const int ranks[] = {8, 16, 32, 64};
  struct straggler found[FOUND_MAX];
  for (size_t n = 0; n < sizeof ranks / sizeof *ranks; n++)
    for (int seed = 0; seed < 25; seed++) {
      int slow = seed * 7 % ranks[n];
      struct machine machine = {.seed = (uint64_t)seed};
      machine.device[slow] = 1.05;
      assert_int_equal(run(ranks[n], &machine, found), 1);
      assert_int_equal(found[0].rank, slow);
      assert_int_equal(found[0].of, JUDGE_COMPUTE);
      assert_true(found[0].slowness > 1.04 && found[0].slowness < 1.06);
      assert_true(found[0].beyond > BLOCKS / 2);
    }
}

TEST(both_ends_of_a_bad_link_are_named_and_nobody_else)
{
  static const int ranks[] = {8, 16, 64};
  struct straggler found[FOUND_MAX];
  for (size_t n = 0; n < sizeof ranks / sizeof *ranks; n++) {
    assert_int_equal(run(ranks[n], &(struct machine){.seed = 3, .a = 2, .b = 4, .link = 8}, found), 2);
    assert_int_equal(found[0].rank + found[1].rank, 6);
    assert_int_equal(found[0].of, JUDGE_EXCHANGE);
    assert_int_equal(found[1].of, JUDGE_EXCHANGE);
  }
}

TEST(a_slow_device_and_a_bad_link_at_once)
{
  const struct machine machine = {.seed = 5, .device[17] = 1.05, .a = 2, .b = 4, .link = 8};
  struct straggler found[FOUND_MAX];
  assert_int_equal(run(32, &machine, found), 3);
  assert_int_equal(found[0].rank, 17);
  assert_int_equal(found[0].of, JUDGE_COMPUTE);
}

TEST(a_whole_host_of_eight_among_sixty_four)
{
  struct straggler found[FOUND_MAX];
  struct machine machine = {.seed = 9};
  int seen = 0;
  for (int r = 24; r < 32; r++) machine.device[r] = 1.1;
  assert_int_equal(run(64, &machine, found), 8);
  for (int f = 0; f < 8; f++) seen |= 1 << (found[f].rank - 24);
  assert_int_equal(seen, 255);
}

/* ---- a busy machine ---- */

static uint64_t drawn;

static double uniform(void)
{
  drawn = hash_mix(drawn);
  return ((double)(drawn >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
  return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Disturbances of a run: noise in every block, and bursts by other programs in some blocks. */
struct busy {
  /* noise; probability that a disturbance begins in a block; probability that it ends in one */
  double noise, begins, ends;
};

/* Returns a block's time. If disturbed, it is 2% longer or more, with a heavy tail. */
static double busy_block(const struct busy *busy, int *disturbed)
{
  *disturbed = *disturbed ? uniform() > busy->ends : uniform() < busy->begins;
  double tail = *disturbed ? 0.02 / pow(uniform(), 1.5) : 0;
  return fmax(0.5, 1 + busy->noise * normal()) * (1 + fmin(tail, 50));
}

/* Runs equal ranks, one of which may be slow, on a busy machine; returns the number found. */
static int busy_run(int ranks, int blocks, const struct busy *busy, double slow,
                    struct straggler found[FOUND_MAX])
{
  static struct judge_block times[RANKS_MAX * 256];
  struct straggler_work work[RANKS_MAX];
  for (int r = 0; r < ranks; r++) {
    int computing = 0, sending = 0;
    work[r] = (struct straggler_work){1e6, 2, 1e5, 0, 0};
    for (int b = 0; b < blocks; b++)
      times[r * blocks + b] =
          (struct judge_block){1e-3 * busy_block(busy, &computing) * (r == 0 ? slow : 1),
                               1e-4 * busy_block(busy, &sending) * busy_block(busy, &sending)};
  }
  struct straggler_ranks in = {ranks, blocks, times, work};
  return straggler_find(&in, found, FOUND_MAX);
}

/* The machines range from quiet ones to those where a third of all blocks are disturbed, for two
 * blocks on average. */
TEST(ten_thousand_runs_on_a_busy_machine_accuse_in_ten_at_most)
{
  static const int ranks[] = {4, 5, 8, 16}, blocks[] = {1, 3, 6, 7, 8, 10, 13, 20, 40};
  struct straggler found[FOUND_MAX];
  int accusing = 0;
  drawn = 23;
  for (int n = 0; n < 10000; n++) {
    struct busy busy = {.noise = 0.003 * pow(10, uniform()), .ends = 0.5 + 0.5 * uniform()};
    busy.begins = 0.3 * uniform();
    accusing += busy_run(ranks[n % 4], blocks[n / 4 % 9], &busy, 1, found) > 0;
  }
  if (getenv("STRAGGLER_RATES")) print_message("%d of 10000 runs accuse somebody\n", accusing);
  assert_true(accusing <= 10);
}

TEST(a_rank_four_percent_slow_is_found_in_ten_blocks)
{
  static const int ranks[] = {4, 8, 16, 64}, blocks[] = {10, 12, 20};
  const struct busy quiet = {.noise = 0.003};
  struct straggler found[FOUND_MAX];
  int named = 0;
  drawn = 42;
  for (int n = 0; n < 1200; n++)
    named += busy_run(ranks[n % 4], blocks[n / 4 % 3], &quiet, 1.04, found) == 1 && found[0].rank == 0 &&
             found[0].of == JUDGE_COMPUTE;
  if (getenv("STRAGGLER_RATES")) print_message("%d of 1200 slow ranks named\n", named);
  assert_true(named >= 1188);
}

/* ---- the edges ---- */

/* Runs ranks whose blocks all take the same compute time, the rank's factor; \a exchange is rank
 * 0's exchange. */
static int still_run(int ranks, int blocks, const double *factors, double exchange,
                     struct straggler found[FOUND_MAX])
{
  static struct judge_block times[RANKS_MAX * BLOCKS];
  struct straggler_work work[RANKS_MAX];
  for (int r = 0; r < ranks; r++) {
    work[r] = (struct straggler_work){1e6, 2, 1e5, 0, 0};
    for (int b = 0; b < blocks; b++)
      times[r * blocks + b] = (struct judge_block){1e-3 * factors[r], 1e-4 * (r == 0 ? exchange : 1)};
  }
  struct straggler_ranks in = {ranks, blocks, times, work};
  return straggler_find(&in, found, FOUND_MAX);
}

TEST(the_least_share_that_counts_is_three_percent_of_compute_and_a_quarter_of_exchange)
{
  const double above[] = {1.031, 1, 1, 1, 1}, below[] = {1.029, 1, 1, 1, 1}, equal[] = {1, 1, 1, 1, 1};
  struct straggler found[FOUND_MAX];
  assert_int_equal(still_run(5, 10, above, 1, found), 1);
  assert_true(fabs(found[0].limit - 1.03) < 1e-12 && fabs(found[0].slowness - 1.031) < 1e-12);
  assert_int_equal(found[0].beyond, 10);
  assert_int_equal(still_run(5, 10, below, 1, found), 0);
  assert_int_equal(still_run(5, 10, equal, 1.26, found), 1);
  assert_true(fabs(found[0].limit - 1.25) < 1e-12 && found[0].of == JUDGE_EXCHANGE);
  assert_int_equal(still_run(5, 10, equal, 1.24, found), 0);
}

/* The MAD of these ranks is 0.01, so the limit is 1 + 5·1.4826·0.01. */
TEST(the_limit_is_five_standard_deviations_of_the_ranks)
{
  const double above[] = {1.075, 0.99, 0.99, 1, 1, 1.01, 1.01},
               below[] = {1.074, 0.99, 0.99, 1, 1, 1.01, 1.01};
  struct straggler found[FOUND_MAX];
  assert_int_equal(still_run(7, 10, above, 1, found), 1);
  assert_true(fabs(found[0].limit - 1.07413) < 1e-9);
  assert_int_equal(still_run(7, 10, below, 1, found), 0);
}

/* Every usual rank's MAD is 0.03; the limit is 1 + 5·1.4826·1.2533·0.03/√18. */
TEST(nor_is_it_finer_than_the_noise_of_so_many_blocks)
{
  static const double levels[] = {0.97, 0.97, 1, 1, 1.03, 1.03};
  struct straggler found[FOUND_MAX];
  struct judge_block times[7 * 18];
  struct straggler_work work[7];
  const struct straggler_ranks in = {7, 18, times, work};
  for (int r = 0; r < 7; r++) work[r] = (struct straggler_work){1, 1, 1, 0, 0};
  for (int t = 0; t < 7 * 18; t++)
    times[t] = (struct judge_block){t < 18 ? 1.07 : levels[(t / 18 + t % 18) % 6], 1};
  assert_int_equal(straggler_find(&in, found, FOUND_MAX), 1);
  assert_true(fabs(found[0].limit - 1.0656953) < 1e-6);
  for (int t = 0; t < 18; t++) times[t].compute = 1.065;
  assert_int_equal(straggler_find(&in, found, FOUND_MAX), 0);
}

TEST(with_fewer_blocks_than_the_test_needs_nobody_is_accused)
{
  static const struct {
    int ranks, blocks;
  } least[] = {{4, 6}, {8, 7}, {16, 7}, {64, 8}, {1024, 10}, {65536, 12}};
  const double slow[RANKS_MAX] = {2, 1, 1, 1};
  struct straggler found[FOUND_MAX];
  for (size_t l = 0; l < sizeof least / sizeof *least; l++)
    assert_int_equal(straggler_blocks_min(least[l].ranks), least[l].blocks);
  for (int blocks = 0; blocks < 6; blocks++) assert_int_equal(still_run(4, blocks, slow, 1, found), 0);
  assert_int_equal(still_run(4, 6, slow, 1, found), 1);
  assert_int_equal(still_run(3, BLOCKS, slow, 1, found), 0);
}

/* If one block in five is slow by chance, 7 of 10 are in 0.09% of all cases, and 8 in 0.008%. The
 * limit of 0.1%, divided by four ranks and by compute and exchange, is 0.0125%. 24 of 40 blocks are
 * too many for chance, but too few for a faulty device. If other ranks are slow in some blocks,
 * chance explains more, or any number, in particular if these blocks are successive (stride 1). */
TEST(a_rank_is_accused_of_more_blocks_than_chance_explains)
{
  static const struct {
    int ranks, blocks, others, stride, least; /* others: slow blocks of each other rank */
  } cases[] = {{4, 10, 0, 1, 8},  {4, 40, 0, 1, 32}, {5, 6, 1, 1, 6},    {6, 20, 2, 1, 17},
               {7, 13, 2, 1, 13}, {9, 10, 0, 1, 9},  {12, 17, 2, 1, 15}, {9, 10, 3, 1, 11},
               {9, 10, 3, 3, 10}, {9, 13, 4, 3, 12}, {9, 15, 5, 1, 16},  {9, 16, 6, 3, 16}};
  struct straggler found[FOUND_MAX];
  struct judge_block times[12 * 17];
  struct straggler_work work[12];
  for (int r = 0; r < 12; r++) work[r] = (struct straggler_work){1, 1, 1, 0, 0};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const int blocks = cases[c].blocks, others = cases[c].others;
    const struct straggler_ranks in = {cases[c].ranks, blocks, times, work};
    for (int beyond = 0; beyond <= blocks; beyond++) {
      for (int t = 0; t < in.ranks * blocks; t++) {
        const int slow = t < blocks
                             ? t < beyond
                             : (t * cases[c].stride + t / blocks * (blocks - others)) % blocks < others;
        times[t] = (struct judge_block){slow ? 1.5 : 1, 1};
      }
      assert_int_equal(straggler_find(&in, found, FOUND_MAX), beyond >= cases[c].least);
    }
  }
}

/* One rank has slower paths, and its neighbours' paths to it are equally slow: none is faulty. Of
 * the ranks with the same transport, a late one is still found. */
TEST(exchanges_are_compared_only_by_the_same_transport)
{
  struct straggler found[FOUND_MAX];
  struct judge_block times[8 * 10];
  struct straggler_work work[8];
  const struct straggler_ranks in = {8, 10, times, work};
  for (int kind = 0; kind < 2; kind++) {
    for (int r = 0; r < 8; r++) {
      const int far = r < 3 ? r == 1 ? 2 : 1 : 0;
      work[r] = (struct straggler_work){1, 2, 1, kind ? far : 0, kind ? 0 : far};
      for (int b = 0; b < 10; b++) times[r * 10 + b] = (struct judge_block){1, 1 + 10 * far};
    }
    assert_int_equal(straggler_find(&in, found, FOUND_MAX), 0);
    for (int b = 0; b < 10; b++) times[5 * 10 + b].exchange = 1.3;
    assert_int_equal(straggler_find(&in, found, FOUND_MAX), 1);
    assert_int_equal(found[0].rank, 5);
    for (int b = 0; b < 10; b++) times[1 * 10 + b].compute = 1.1; /* compared between all ranks */
    assert_int_equal(straggler_find(&in, found, FOUND_MAX), 2);
  }
}

TEST(those_beyond_the_list_are_counted)
{
  struct straggler_ranks in;
  struct judge_block times[8 * BLOCKS];
  struct straggler_work work[8];
  struct straggler found[1];
  for (int r = 0; r < 8; r++) work[r] = (struct straggler_work){1, 1, 1, 0, 0};
  for (int t = 0; t < 8 * BLOCKS; t++) times[t] = (struct judge_block){t < 5 * BLOCKS ? 1 : 2, 1};
  in = (struct straggler_ranks){8, BLOCKS, times, work};
  assert_int_equal(straggler_find(&in, found, 1), 3);
}

UNIT_MAIN(NULL, NULL)
