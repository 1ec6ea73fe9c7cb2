/* SPDX-License-Identifier: MIT */
/* Simulates how often the default policy detects a fault on a host of eight devices, and how often
 * it accuses a sound host. Devices differ as eight H200 do. ACCEPT_POWER=1 prints the table of
 * doc/lab/acceptance-power.md. */
#include "tests/unit/unit.h"

#include "base/stats.h"
#include "judge/judge.h"
#include "tests/unit/machine.h"

#define DEVICES    8
#define SWEEPS     120
#define BLOCKS_MAX 60
#define BOUNDARY   0.1 /* share of the computation before halos are sent */
/* From doc/results, like MACHINE_NOISE. DIFFER: deviation of devices (0.024 from fastest to
 * slowest). OF_THEORY: a device's ceiling as a share of theory. PATHS_NOISE: of repeated paths. */
#define DIFFER      0.008
#define OF_THEORY   0.9
#define PATHS_NOISE 0.05

/* A fault, as factors by which parts are slower; 1 for none. */
struct fault {
  double device, all, link; /* device 3, all devices, the link between 3 and 4 */
};

/* Nearly normal, mean 0, deviation 1. */
static double normal(uint64_t seed, int which)
{
  double sum = -6;
  for (int n = 0; n < 12; n++)
    sum += (double)(hash_mix(hash_mix(seed) + (uint64_t)(which * 12 + n)) >> 11) * 0x1p-53;
  return sum;
}

static struct machine machine_of(uint64_t seed, const struct fault *fault)
{
  struct machine machine = {.seed = seed, .a = 3, .b = 4, .link = fault->link};
  for (int r = 0; r < DEVICES; r++)
    machine.device[r] = (1 + DIFFER * normal(seed, r)) * fault->all * (r == 3 ? fault->device : 1);
  return machine;
}

static void pairs_fill(const struct machine *machine, struct judge_rank rank[DEVICES],
                       struct judge_path paths[DEVICES][2])
{
  const uint64_t seed = machine->seed;
  for (int r = 0; r + 1 < DEVICES; r++) {
    const double least = machine_message(machine, r, r + 1, 0), bytes = 4 << 20;
    const struct judge_path pair = {.bytes = 1 << 19,
                                    .used = "p2p",
                                    .handover = "",
                                    .us = 1e6 * least * (1 + PATHS_NOISE * normal(seed, 100 + r)),
                                    .gbps = bytes / (machine_message(machine, r, r + 1, bytes) - least) *
                                            (1 + PATHS_NOISE * normal(seed, 200 + r)) / 1e9};
    for (int end = 0; end < 2; end++) {
      struct judge_rank *one = &rank[r + end];
      one->paths = paths[r + end];
      paths[r + end][one->n_paths] = pair;
      paths[r + end][one->n_paths++].peer = end ? r : r + 1;
    }
  }
}

static void value_set(struct judge_rank *rank, const char *key, double value)
{
  rank->value[check_kind_find(key)] = value;
}

/* Fills the blocks of all ranks, and the times of the run. */
static void blocks_fill(const struct machine *machine, int blocks, struct judge_rank rank[DEVICES],
                        struct judge_block *times, double *samples)
{
  const int64_t global[3] = {2034, 256, 512};
  const int procs[3] = {DEVICES, 1, 1};
  double compute[BLOCKS_MAX];
  memset(samples, 0, sizeof *samples * (size_t)blocks);
  for (int r = 0; r < DEVICES; r++) {
    struct decomp decomp;
    struct layout layout;
    struct halo_plan plan;
    decomp_init(&decomp, global, procs, r);
    assert_int_equal(layout_init(&layout, &decomp, 1, 0), STATUS_OK);
    halo_plan_init(&plan, &decomp, &layout, 1);
    rank[r].points = (double)box_points(&decomp.owned);
    for (int b = 0; b < blocks; b++) {
      const struct judge_block block = machine_block(machine, r, b, rank[r].points, &plan);
      const double boundary = BOUNDARY * block.compute;
      compute[b] = block.compute;
      times[r * blocks + b] = block;
      samples[b] = fmax(samples[b], SWEEPS * (boundary + fmax(block.compute - boundary, block.exchange)));
    }
    const struct stats_summary s = stats_summarise(compute, (size_t)blocks);
    const double gflops = himeno_gflops(rank[r].points, 1, s.median),
                 ceiling = MACHINE_BYTES_PER_SECOND / MACHINE_CEILING_SHARE / machine->device[r];
    rank[r].noise = stats_noise(&s);
    for (int k = 0; k < CHECK_KINDS; k++) rank[r].value[k] = NAN;
    value_set(&rank[r], "device_noise_max", rank[r].noise);
    value_set(&rank[r], "device_gflops_min", gflops);
    value_set(&rank[r], "ceiling_share_min", himeno_bytes_per_second(gflops) / ceiling);
    /* 1 MHz times 1 bit is 0.25 MB/s; a sound device reaches OF_THEORY of the theory. */
    value_set(&rank[r], "theory_share_min",
              ceiling /
                  (0.25e6 * floor(MACHINE_BYTES_PER_SECOND / MACHINE_CEILING_SHARE / OF_THEORY / 0.25e6)));
    value_set(&rank[r], "devices_unshared", 1);
  }
}

/* Returns 1 if the default policy accepts a run with this seed and fault. */
static int is_accepted(uint64_t seed, int blocks, const struct fault *fault)
{
  static struct judge_rank rank[DEVICES];
  static struct judge_path paths[DEVICES][2];
  static struct judge_block times[DEVICES * BLOCKS_MAX];
  static struct judge_run run;
  static struct checks checks;
  double samples[BLOCKS_MAX];
  struct policy policy;
  memset(rank, 0, sizeof rank);
  const struct machine machine = machine_of(seed, fault);
  blocks_fill(&machine, blocks, rank, times, samples);
  pairs_fill(&machine, rank, paths);
  run = (struct judge_run){.program = "himeno-gpu",
                           .n_ranks = DEVICES,
                           .ranks = rank,
                           .has_pairs = 1,
                           .samples = samples,
                           .n_samples = blocks,
                           .blocks = times,
                           .n_blocks = blocks};
  assert_int_equal(judge_find(&run), STATUS_OK);
  assert_int_equal(policy_read("default", &policy), STATUS_OK);
  checks.n = 0;
  checks_of_policy(&run, &policy, &checks);
  return checks_count(&checks, CHECK_FAIL) == 0 && checks_count(&checks, CHECK_NOISY) == 0;
}

/* Returns how many of \a runs runs are not accepted. */
static int refused(int runs, int blocks, struct fault fault)
{
  int n = 0;
  for (int seed = 1; seed <= runs; seed++) n += !is_accepted((uint64_t)seed, blocks, &fault);
  return n;
}

TEST(a_sound_host_is_refused_in_one_of_a_thousand_runs_at_most)
{
  const struct fault none = {1, 1, 1};
  assert_true(refused(1000, 7, none) <= 1);
}

TEST(a_detectable_slowdown_is_found_in_99_of_100_runs)
{
  assert_true(refused(200, 7, (struct fault){1.07, 1, 1}) >= 198);
  assert_true(refused(200, 7, (struct fault){1, 1.25, 1}) >= 198);
  assert_true(refused(200, 7, (struct fault){1, 1, 2.5}) >= 198);
}

/* ---- network cards, compared with their ports ---- */

#define WIRES        (2 * DEVICES)
#define CARDS_DIFFER 0.003
#define STREAM_ERROR 0.0075 /* the largest standard error with which comm-gpu judges a stream */

/* Returns in how many of \a runs runs over two hosts the spread of cards fails at 5%. The first \a
 * slow cards reach \a rate of the others' rate; only they may be named. */
static int wires_refused(int runs, int slow, double rate)
{
  static struct judge_rank rank[WIRES];
  static struct checks checks;
  const char policy_text[] = "{\"wire_spread_max\": 0.05}";
  struct policy policy;
  json_t *share[WIRES][2];
  int refused_runs = 0;
  assert_int_equal(policy_parse(policy_text, strlen(policy_text), "test", &policy), STATUS_OK);
  for (int r = 0; r < WIRES; r++) {
    for (int all = 0; all < 2; all++) share[r][all] = json_real(1);
    rank[r] = (struct judge_rank){.row = json_pack("{s{ss, si, so, so}}", "wire", "card", "mlx5_0/1", "peer",
                                                   (r + DEVICES) % WIRES, "out", share[r][0], "out_all",
                                                   share[r][1])};
    assert_non_null(rank[r].row);
  }
  for (int seed = 1; seed <= runs; seed++) {
    for (int r = 0; r < WIRES; r++)
      for (int all = 0; all < 2; all++)
        json_real_set(share[r][all], 0.96 * (r % DEVICES < slow ? rate : 1) *
                                         (1 + CARDS_DIFFER * normal((uint64_t)seed, r)) *
                                         (1 + STREAM_ERROR * normal((uint64_t)seed, 100 + 2 * r + all)));
    const struct judge_run run = {.program = "comm-gpu", .n_ranks = WIRES, .ranks = rank};
    checks.n = 0;
    checks_of_policy((struct judge_run *)&run, &policy, &checks);
    assert_int_equal(checks.n, 1);
    refused_runs +=
        checks.check[0].outcome == CHECK_FAIL && (slow == 0 || checks.check[0].rank % DEVICES < slow);
  }
  for (int r = 0; r < WIRES; r++) json_decref((json_t *)rank[r].row);
  return refused_runs;
}

TEST(a_card_8_percent_slow_is_found_and_no_sound_host_accused)
{
  assert_int_equal(wires_refused(20000, 0, 1), 0);
  assert_true(wires_refused(2000, 1, 0.92) >= 1980);
  assert_int_equal(wires_refused(2000, 2, 0.82), 2000);
}

TEST(the_table)
{
  static const struct {
    const char *of;
    struct fault fault;
  } rows[] = {{"none", {1, 1, 1}},
              {"a device 3% slow", {1.03, 1, 1}},
              {"a device 5% slow", {1.05, 1, 1}},
              {"a device 6% slow", {1.06, 1, 1}},
              {"a device 7% slow", {1.07, 1, 1}},
              {"a device 8% slow", {1.08, 1, 1}},
              {"a device 10% slow", {1.1, 1, 1}},
              {"memory of all 10% slow", {1, 1.1, 1}},
              {"memory of all 20% slow", {1, 1.2, 1}},
              {"memory of all 25% slow", {1, 1.25, 1}},
              {"a link 1.5 times slower", {1, 1, 1.5}},
              {"a link 2 times slower", {1, 1, 2}},
              {"a link 2.5 times slower", {1, 1, 2.5}}};
  if (getenv("ACCEPT_POWER"))
    for (int below = 3; below <= 8; below++)
      printf("| a card %d%% slow | %d |\n", below, wires_refused(20000, 1, 1 - below / 100.0));
  for (size_t r = 0; getenv("ACCEPT_POWER") && r < sizeof rows / sizeof *rows; r++)
    printf("| %s | %d | %d |\n", rows[r].of, refused(1000, 7, rows[r].fault),
           refused(1000, 60, rows[r].fault));
}

UNIT_MAIN(NULL, NULL)
