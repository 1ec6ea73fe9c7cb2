/* SPDX-License-Identifier: MIT */
/* The checks of a policy, each made of a whole run. */
#include "tests/unit/unit.h"

#include <math.h>

#include "himeno/accept/suspect.h"
#include "himeno/accept/ways.h"
#include "himeno/accept/accept.h"
#include "himeno/result.h"

static const double steady[] = {1, 1, 1, 1, 1};

static struct accept_policy good(const char *text)
{
  struct accept_policy policy;
  assert_int_equal(policy_parse(text, strlen(text), "test", &policy), STATUS_OK);
  return policy;
}

/* Devices of 1 GFLOPS, 1.02 the first and 0.95 the last, whose ceiling is 1; the run makes 3.6. */
static struct himeno_result whole_run(const double *samples, int n, int ranks, struct himeno_rank *rank)
{
  const struct himeno_result run = {.samples = (double *)samples,
                                    .n_samples = n,
                                    .seconds = 34e-9 * 4 / 3.6,
                                    .points = 4,
                                    .sweeps = 1,
                                    .n_ranks = ranks,
                                    .ranks = rank};
  for (int r = 0; r < ranks; r++)
    rank[r] = (struct himeno_rank){.points = 1, .compute = 34e-9, .ceiling = 56.0 / 34 * 1e9};
  rank[0].compute = 34e-9 / 1.02;
  rank[ranks - 1].compute = 34e-9 / 0.95;
  return run;
}

static void checks_make(const struct himeno_result *run, const struct accept_policy *policy,
                        struct accept *accept)
{
  const struct himeno_config config = {.soak_given = 0};
  const struct placement placement = {.ranks = run->n_ranks};
  accept_policy_checks(&config, &placement, run, policy, accept);
}

static struct accept_check checked(const struct himeno_result *run, const char *text)
{
  struct accept_policy policy = good(text);
  struct accept accept = {.n = 0};
  checks_make(run, &policy, &accept);
  return accept.checks[accept.n - 1];
}

static void the_checks_of_speed_stand_at_their_limits(void **state)
{
  static const struct {
    const char *pass, *fail;
    double value;
  } checks[] = {
      {"{\"ceiling_share_min\": 0.9499}", "{\"ceiling_share_min\": 0.9501}", 0.95},
      {"{\"efficiency_min\": 0.9067}", "{\"efficiency_min\": 0.9069}", 3.6 / 3.97},
      {"{\"device_spread_max\": 0.0701}", "{\"device_spread_max\": 0.0699}", 0.07},
      {"{\"device_gflops_min\": 0.9499}", "{\"device_gflops_min\": 0.9501}", 0.95},
  };
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(steady, 5, 4, rank);
  (void)state;
  for (size_t c = 0; c < sizeof checks / sizeof *checks; c++) {
    struct accept_check pass = checked(&run, checks[c].pass), fail = checked(&run, checks[c].fail);
    assert_true(fabs(pass.value - checks[c].value) < 1e-9 && fail.value == pass.value);
    assert_int_equal(pass.outcome, CHECK_PASS);
    assert_int_equal(fail.outcome, CHECK_FAIL);
  }
}

static void one_interrupted_block_is_no_slow_machine(void **state)
{
  const double interrupted[] = {1, 1, 1, 1, 6};
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(interrupted, 5, 4, rank);
  (void)state;
  run.seconds *= 2;
  struct accept_check all = checked(&run, "{\"efficiency_min\": 0.9}");
  assert_true(all.outcome == CHECK_PASS && fabs(all.value - 3.6 / 3.97) < 1e-9);
}

static void two_blocks_tell_no_speed(void **state)
{
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(steady, 2, 4, rank);
  (void)state;
  static const char *const texts[] = {"{\"ceiling_share_min\": 0}", "{\"efficiency_min\": 0}",
                                      "{\"device_spread_max\": 9}", "{\"noise_max\": 9}",
                                      "{\"device_gflops_min\": 0}"};
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
    struct accept_check check = checked(&run, texts[t]);
    assert_int_equal(check.outcome, CHECK_UNKNOWN);
    assert_string_equal(check.why, "needs 3 timed blocks");
  }
  run.n_samples = 5;
  assert_string_equal(checked(&run, "{\"stragglers_max\": 0}").why, "needs 6 timed blocks");
  assert_int_equal(checked(&run, "{\"devices_per_host\": 4}").outcome, CHECK_PASS);
}

static void one_rank_has_no_other_to_be_compared_with(void **state)
{
  struct himeno_rank rank[3];
  struct himeno_result one = whole_run(steady, 5, 1, rank), three = whole_run(steady, 5, 3, rank);
  (void)state;
  assert_int_equal(checked(&one, "{\"device_spread_max\": 0.01}").outcome, CHECK_INAPPLICABLE);
  assert_int_equal(checked(&three, "{\"stragglers_max\": 9}").outcome, CHECK_INAPPLICABLE);
}

static void a_noisy_run_is_not_slow(void **state)
{
  const double varied[] = {0.96, 0.96, 1, 1.04, 1.04}; /* noise at most 0.0961 */
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(varied, 5, 4, rank);
  const struct accept_policy tolerant = good("{\"noise_max\": 0.1, \"efficiency_min\": 2}");
  struct accept accept = {.n = 0};
  (void)state;
  assert_int_equal(checked(&run, "{\"noise_max\": 0.0960}").outcome, CHECK_NOISY);
  assert_int_equal(checked(&run, "{\"noise_max\": 0.0961}").outcome, CHECK_PASS);
  assert_int_equal(checked(&run, "{\"efficiency_min\": 2}").outcome, CHECK_NOISY);
  assert_int_equal(checked(&run, "{\"efficiency_min\": 0.9}").outcome, CHECK_PASS);
  assert_int_equal(checked(&run, "{\"devices_per_host\": 9}").outcome, CHECK_FAIL);
  checks_make(&run, &tolerant, &accept);
  assert_int_equal(accept_count(&accept, CHECK_FAIL), 1);
  run.samples = (double[]){0.98, 0.98, 1, 1.02, 1.02}; /* noise at most 0.0480 */
  assert_int_equal(checked(&run, "{\"efficiency_min\": 2}").outcome, CHECK_FAIL);
}

static void a_device_is_judged_by_its_own_noise_and_not_by_that_of_exchanges(void **state)
{
  const double varied[] = {0.96, 0.96, 1, 1.04, 1.04};
  static const char *const slow[] = {"{\"device_gflops_min\": 2}", "{\"ceiling_share_min\": 1}",
                                     "{\"device_spread_max\": 0}"};
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(varied, 5, 4, rank);
  (void)state;
  for (int c = 0; c < 3; c++) assert_int_equal(checked(&run, slow[c]).outcome, CHECK_FAIL);
  assert_int_equal(checked(&run, "{\"device_noise_max\": 0}").outcome, CHECK_PASS);
  rank[2].noise = 0.0501;
  for (int c = 0; c < 3; c++) assert_int_equal(checked(&run, slow[c]).outcome, CHECK_NOISY);
  struct accept_check noise = checked(&run, "{\"device_noise_max\": 0.05}");
  assert_true(noise.outcome == CHECK_NOISY && noise.value == 0.0501);
  assert_int_equal(checked(&run, "{\"noise_max\": 0.06, \"device_gflops_min\": 2}").outcome, CHECK_FAIL);
  for (int c = 0; c < 2; c++) {
    const struct accept_policy tolerant = good(c ? "{\"device_noise_max\": 0.06, \"efficiency_min\": 2}"
                                                 : "{\"device_noise_max\": 0.06, \"device_gflops_min\": 2}");
    struct accept accept = {.n = 0};
    checks_make(&run, &tolerant, &accept);
    assert_int_equal(accept_count(&accept, c ? CHECK_NOISY : CHECK_FAIL), 1);
  }
}

/* Eight ranks around a ring of two ways each: all on one host, by p2p. */
static void ring(struct himeno_result *run, struct himeno_rank rank[8])
{
  for (int r = 0; r < 8; r++) {
    snprintf(rank[r].row.host, sizeof rank[r].row.host, "n1");
    rank[r].n_paths = 2;
    for (int m = 0; m < 2; m++) {
      rank[r].paths[m] = (struct himeno_path){
          .peer = (r + (m ? 1 : 7)) % 8, .used = "p2p", .way = {.seconds = 2e-6, .bytes_per_second = 5e10}};
    }
  }
  run->ranks = rank;
}

static void ways_are_held_against_limits_and_against_those_like_them(void **state)
{
  struct himeno_rank rank[8];
  struct himeno_result run = whole_run(steady, 5, 8, rank);
  (void)state;
  ring(&run, rank);
  assert_int_equal(checked(&run, "{\"exchange_us_ratio_max\": 1}").outcome, CHECK_PASS);
  rank[3].paths[1].way = rank[4].paths[0].way =
      (struct himeno_way){.seconds = 5e-6, .bytes_per_second = 2e10};
  struct accept_check late = checked(&run, "{\"exchange_us_ratio_max\": 2.4}"),
                      slow = checked(&run, "{\"exchange_gbps_ratio_min\": 0.5}");
  assert_true(late.outcome == CHECK_FAIL && fabs(late.value - 2.5) < 1e-9 && late.rank == 3);
  assert_true(slow.outcome == CHECK_FAIL && fabs(slow.value - 0.4) < 1e-9 && slow.rank == 3);
  assert_non_null(strstr(slow.why, "to rank 4; rank 3 on n1"));
  assert_int_equal(checked(&run, "{\"exchange_us_max\": 4.9}").outcome, CHECK_FAIL);
  assert_int_equal(checked(&run, "{\"exchange_us_max\": 5.1}").outcome, CHECK_PASS);
  assert_int_equal(checked(&run, "{\"exchange_gbps_min\": 20.1}").outcome, CHECK_FAIL);
  assert_int_equal(checked(&run, "{\"exchange_gbps_min\": 19.9}").outcome, CHECK_PASS);
}

/* Four ranks in a row, by what four H100 had while a second program slowed the third: its ways were
 * slow to either side, one by latency and the other by rate. */
static void row(struct himeno_rank rank[4])
{
  static const struct himeno_way ways[] = {{.seconds = 4.46e-6, .bytes_per_second = 276.4e9},
                                           {.seconds = 64.14e-6, .bytes_per_second = 278.5e9},
                                           {.seconds = 18.68e-6, .bytes_per_second = 69.2e9}};
  for (int r = 0; r < 4; r++) {
    snprintf(rank[r].row.host, sizeof rank[r].row.host, "n1");
    for (int peer = r - 1; peer <= r + 1; peer += 2)
      if (peer >= 0 && peer < 4)
        rank[r].paths[rank[r].n_paths++] =
            (struct himeno_path){.peer = peer, .used = "p2p", .way = ways[peer < r ? peer : r]};
  }
}

static void assert_end(const struct himeno_result *run, const char *policy, int rank, int peer)
{
  const struct accept_check check = checked(run, policy);
  char why[40];
  snprintf(why, sizeof why, "to rank %d; rank %d on n1", peer, rank);
  assert_int_equal(check.outcome, CHECK_FAIL);
  assert_int_equal(check.rank, rank);
  assert_int_equal(strncmp(check.why, why, strlen(why)), 0);
}

#define RANK(r) (1u << (r))

static void stragglers_add(struct himeno_result *run, unsigned ranks, enum straggler_of of)
{
  for (int r = 0; r < run->n_ranks; r++)
    if (ranks & RANK(r)) run->stragglers[run->n_stragglers++] = (struct straggler){.rank = r, .of = of};
}

static void episodes_add(struct himeno_result *run, unsigned ranks, enum straggler_of of)
{
  for (int r = 0; r < run->n_ranks; r++)
    if (ranks & RANK(r)) run->episodes[run->n_episodes++] = (struct episode){.rank = r, .of = of};
}

/* The way of ranks 1 and 2 has the longest latency, that of 2 and 3 the lowest rate. */
static void of_a_slow_way_the_end_is_named_whose_device_is_slow(void **state)
{
  static const struct {
    unsigned compute, exchange, compute_once, exchange_once; /* who was slow */
    int late, slow;                                          /* who is named */
  } cases[] = {
      {.late = 1, .slow = 2},
      {.compute = RANK(0), .late = 1, .slow = 2},
      {.compute = RANK(1), .late = 1, .slow = 2},
      {.compute = RANK(2), .late = 2, .slow = 2},
      {.compute = RANK(3), .late = 1, .slow = 3},
      {.compute = RANK(1) | RANK(2), .late = 1, .slow = 2},
      {.compute = RANK(2) | RANK(3), .late = 2, .slow = 2},
      {.exchange = RANK(1) | RANK(2), .late = 1, .slow = 2},
      {.exchange = RANK(2), .late = 1, .slow = 2},
      {.exchange = RANK(3), .late = 1, .slow = 2},
      {.exchange = RANK(1), .compute = RANK(2), .late = 2, .slow = 2},
      {.compute_once = RANK(2), .late = 2, .slow = 2},
      {.exchange_once = RANK(2) | RANK(3), .late = 1, .slow = 2},
      {.compute_once = RANK(1) | RANK(3), .compute = RANK(2), .late = 2, .slow = 2},
      {.compute_once = RANK(2), .compute = RANK(1) | RANK(3), .late = 1, .slow = 3},
  };
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const int late = cases[c].late, slow = cases[c].slow;
    struct himeno_rank rank[4];
    struct himeno_result run = whole_run(steady, 5, 4, rank);
    row(rank);
    stragglers_add(&run, cases[c].compute, STRAGGLER_COMPUTE);
    stragglers_add(&run, cases[c].exchange, STRAGGLER_EXCHANGE);
    episodes_add(&run, cases[c].compute_once, STRAGGLER_COMPUTE);
    episodes_add(&run, cases[c].exchange_once, STRAGGLER_EXCHANGE);
    assert_end(&run, "{\"exchange_us_ratio_max\": 3}", late, 1 + 2 - late);
    assert_end(&run, "{\"exchange_us_max\": 64}", late, 1 + 2 - late);
    assert_end(&run, "{\"exchange_gbps_ratio_min\": 0.5}", slow, 2 + 3 - slow);
    assert_end(&run, "{\"exchange_gbps_min\": 70}", slow, 2 + 3 - slow);
  }
}

/* What was sent, 100 bytes, and what the device counted of it. */
static void how_bytes_went_is_told_by_what_was_counted(void **state)
{
  static const struct {
    const char *used, *handover;
    int64_t nvlink, pcie;
    int nvlinks;
    enum ways_went went;
  } cases[] = {{"p2p", "", 101, 3, 18, WAYS_NVLINK},      {"p2p", "", 90, 100, 18, WAYS_NVLINK},
               {"nccl", "", 50, 104, 18, WAYS_DISGUISED}, {"nccl", "", 50, 50, 18, WAYS_UNTOLD},
               {"ipc", "", -1, 104, 0, WAYS_PCIE},        {"p2p", "", -1, 104, -1, WAYS_PCIE},
               {"p2p", "", -1, -1, 18, WAYS_UNTOLD},      {"staged", "shared memory", 0, 104, 18, WAYS_HOST},
               {"pageable", "", 0, 104, 18, WAYS_HOST}};
  struct himeno_rank rank[2] = {{.row.host = "n1"}, {.row.host = "n1"}};
  struct himeno_result run = {.n_ranks = 2, .ranks = rank};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct himeno_path path = {.way = {1e-6, 1e9, 100, {cases[c].nvlink, cases[c].pcie}, cases[c].nvlinks}};
    snprintf(path.used, sizeof path.used, "%s", cases[c].used);
    snprintf(path.handover, sizeof path.handover, "%s", cases[c].handover);
    assert_int_equal(ways_went(&run, 1, &path), cases[c].went);
    rank[0].row.host_first = 1;
    assert_int_equal(ways_went(&run, 1, &path), WAYS_UNTOLD);
    rank[0].row.host_first = 0;
    path.way.sent = 0;
    assert_int_equal(ways_went(&run, 1, &path), WAYS_UNTOLD);
  }
}

/* A pair that is staged, or crosses hosts, is slower than those that are not, and sound. */
static void ways_of_another_kind_are_no_measure(void **state)
{
  struct himeno_rank rank[8];
  struct himeno_result run = whole_run(steady, 5, 8, rank);
  (void)state;
  ring(&run, rank);
  for (int r = 0; r < 2; r++) {
    struct himeno_path *path = &rank[3 + r].paths[1 - r];
    path->way = (struct himeno_way){.seconds = 5e-5, .bytes_per_second = 1e9};
    snprintf(path->used, sizeof path->used, "staged");
  }
  assert_int_equal(checked(&run, "{\"exchange_gbps_ratio_min\": 0.9}").outcome, CHECK_PASS);
  ring(&run, rank);
  rank[0].row.host_first = 1;
  for (int m = 0; m < 2; m++)
    rank[0].paths[m].way = rank[m ? 1 : 7].paths[1 - m].way =
        (struct himeno_way){.seconds = 5e-5, .bytes_per_second = 1e9};
  assert_int_equal(checked(&run, "{\"exchange_us_ratio_max\": 1.1}").outcome, CHECK_PASS);
  for (int r = 0; r < 8; r++) rank[r].row.host_first = r / 2;
  assert_int_equal(checked(&run, "{\"exchange_us_ratio_max\": 1.1}").outcome, CHECK_FAIL);
  run.n_ranks = 3; /* two ways between three ranks */
  rank[0].paths[0].peer = rank[2].paths[1].peer = 1;
  assert_int_equal(checked(&run, "{\"exchange_us_ratio_max\": 1.1}").outcome, CHECK_INAPPLICABLE);
}

static void ranks_that_share_a_device_have_one(void **state)
{
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(steady, 5, 4, rank);
  (void)state;
  for (int r = 0; r < 4; r++) rank[r].row.shared = 1;
  assert_int_equal(checked(&run, "{\"devices_per_host\": 2}").outcome, CHECK_PASS);
  struct accept_check check = checked(&run, "{\"devices_per_host\": 4}");
  assert_true(check.outcome == CHECK_FAIL && check.value == 2);
  assert_int_equal(checked(&run, "{\"devices_unshared\": true}").outcome, CHECK_FAIL);
  static const char *const shares[] = {"{\"ceiling_share_min\": 1}", "{\"device_gflops_min\": 9}",
                                       "{\"device_spread_max\": 0}", "{\"efficiency_min\": 1}"};
  for (int c = 0; c < 4; c++) {
    check = checked(&run, shares[c]);
    assert_int_equal(check.outcome, CHECK_INAPPLICABLE);
    assert_string_equal(check.why, "ranks share devices");
  }
}

/* Beside a GPU's times they do not matter; on CPUs the cores are the device. */
static void ranks_that_share_cores_share_a_device_where_that_is_a_cpu(void **state)
{
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(steady, 5, 4, rank);
  (void)state;
  for (int r = 0; r < 4; r++) rank[r].row.overlap = 1;
  assert_int_equal(checked(&run, "{\"devices_unshared\": true}").outcome, CHECK_PASS);
  assert_int_equal(checked(&run, "{\"binding\": true}").outcome, CHECK_FAIL);
  for (int r = 0; r < 4; r++) rank[r].row.info.is_cpu = 1;
  assert_int_equal(checked(&run, "{\"devices_unshared\": true}").outcome, CHECK_FAIL);
  assert_string_equal(checked(&run, "{\"exchange_us_max\": 1}").why, "ranks share cores");
}

/* Four devices of 4916.7 GB/s, whose ceiling is 56/34 GB/s but one's, where it is 4000. */
static void a_ceiling_is_held_against_theory_where_devices_tell_it(void **state)
{
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(steady, 2, 4, rank);
  (void)state;
  for (int r = 0; r < 4; r++) {
    rank[r].telemetry.after.memory_bits = rank[r].telemetry.after.cores = -1;
    rank[r].ceiling = r == 2 ? 4000e9 : 4400e9;
  }
  struct accept_check none = checked(&run, "{\"theory_share_min\": 9, \"unknown_fails\": true}");
  assert_int_equal(none.outcome, CHECK_INAPPLICABLE);
  for (int r = 1; r < 4; r++) {
    rank[r].telemetry.after.memory_mhz_max = 3201;
    rank[r].telemetry.after.memory_bits = 6144;
  }
  struct accept_check some = checked(&run, "{\"theory_share_min\": 0.813, \"unknown_fails\": true}");
  assert_true(some.outcome == CHECK_PASS && some.rank == 2 && fabs(some.value - 0.8135478) < 1e-6);
  assert_string_equal(some.why, "not known of 1 of 4 ranks");
  assert_int_equal(checked(&run, "{\"theory_share_min\": 0.814}").outcome, CHECK_FAIL);
}

/* Half of the blocks were at the power limit, a quarter too hot. */
static void only_forbidden_reasons_of_throttling_count(void **state)
{
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(steady, 5, 4, rank);
  (void)state;
  for (int r = 0; r < 4; r++) {
    struct record_telemetry *t = &rank[r].telemetry;
    t->samples = 4;
    for (int b = 0; b < THROTTLE_BITS; b++)
      t->by_reason[b] = 1 << b == THROTTLE_POWER_CAP ? 2 : 1 << b == THROTTLE_THERMAL;
  }
  struct accept_check check =
      checked(&run, "{\"throttled_max\": 0.25, \"throttle_forbidden\": [\"thermal\"]}");
  assert_true(check.outcome == CHECK_PASS && check.value == 0.25);
  check = checked(&run, "{\"throttled_max\": 0.25, \"throttle_forbidden\": [\"power_cap\"]}");
  assert_true(check.outcome == CHECK_FAIL && check.value == 0.5);
}

/* Of four ranks two count, one more than the other; what nobody counts is said and never fails. */
static void errors_counted_meanwhile_are_held_against_the_rank_that_has_most(void **state)
{
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(steady, 2, 4, rank);
  (void)state;
  for (int r = 0; r < 4; r++)
    memset(&rank[r].telemetry.before, 0xff, 2 * sizeof rank[r].telemetry.before); /* and after */
  struct accept_check check = checked(&run, "{\"counted_max\": 0, \"unknown_fails\": true}");
  assert_int_equal(check.outcome, CHECK_INAPPLICABLE);
  for (int r = 0; r < 4; r++) {
    struct record_telemetry *t = &rank[r].telemetry;
    t->before.pcie_replays = t->after.pcie_replays = 12;
    t->before.nvlink_crc = t->after.nvlink_crc = t->before.xids = t->after.xids = 0;
  }
  check = checked(&run, "{\"counted_max\": 0, \"unknown_fails\": true}");
  assert_true(check.outcome == CHECK_PASS && check.value == 0 && check.rank == -1);
  assert_string_equal(check.why, "cannot be read: ECC errors corrected, ECC errors not corrected, pages or "
                                 "rows retired, NVLink replays, NVLink recoveries, errors of network cards");
  rank[1].telemetry.after.pcie_replays = 15;
  rank[1].telemetry.after.nvlink_crc = 1000; /* which are held against a rate of their own */
  rank[2].telemetry.after.nvlink_crc = 1;
  rank[2].telemetry.after.xids = 4;
  rank[2].telemetry.after.xid = 79;
  check = checked(&run, "{\"counted_max\": 3}");
  assert_true(check.outcome == CHECK_FAIL && check.value == 4 && check.rank == 2);
  assert_int_equal(strncmp(check.why, "Xid events 4 (the last: Xid 79); rank 2 on ", 43), 0);
  assert_int_equal(checked(&run, "{\"counted_max\": 4}").outcome, CHECK_PASS);
  char words[200];
  assert_string_equal(suspect_counted(&run, 2, words, sizeof words),
                      "NVLink CRC errors 1, Xid events 4 (the last: Xid 79)");
}

/* Of four ranks three are read, and the third has most. */
static void nvlink_crc_errors_are_held_against_their_rate(void **state)
{
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(steady, 2, 4, rank);
  struct accept_policy built_in;
  (void)state;
  for (int r = 0; r < 4; r++) rank[r].telemetry.crc_rate = TELEMETRY_UNKNOWN;
  struct accept_check check = checked(&run, "{\"nvlink_crc_rate_max\": 0, \"unknown_fails\": true}");
  assert_int_equal(check.outcome, CHECK_INAPPLICABLE);
  assert_string_equal(check.why, "no device tells what it counts");
  for (int r = 0; r < 3; r++) rank[r].telemetry.crc_rate = r == 2 ? 99.5 : 20;
  check = checked(&run, "{\"nvlink_crc_rate_max\": 99.5, \"unknown_fails\": true}");
  assert_true(check.outcome == CHECK_PASS && check.value == 99.5 && check.rank == 2);
  assert_string_equal(check.why, "not known of 1 of 4 ranks");
  check = checked(&run, "{\"nvlink_crc_rate_max\": 99}");
  assert_true(check.outcome == CHECK_FAIL && check.value == 99.5 && check.rank == 2);
  assert_non_null(strstr(check.why, "; rank 2 on "));
  static const char *const names[] = {"default", "h100", "h200"};
  for (int n = 0; n < 3; n++) {
    assert_int_equal(policy_read(names[n], &built_in), STATUS_OK);
    assert_true(built_in.nvlink_crc_rate_max == 100 && built_in.counted_max == 0);
  }
}

static void what_only_some_ranks_tell_is_said(void **state)
{
  struct himeno_rank rank[4];
  struct himeno_result run = whole_run(steady, 5, 4, rank);
  (void)state;
  for (int r = 0; r < 4; r++) rank[r].telemetry.after.ecc = r == 2 ? -1 : 1;
  struct accept_check check = checked(&run, "{\"ecc\": true}");
  assert_int_equal(check.outcome, CHECK_PASS);
  assert_string_equal(check.why, "not known of 1 of 4 ranks");
  assert_int_equal(checked(&run, "{\"ecc\": true, \"unknown_fails\": true}").outcome, CHECK_FAIL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_checks_of_speed_stand_at_their_limits),
      cmocka_unit_test(one_interrupted_block_is_no_slow_machine),
      cmocka_unit_test(two_blocks_tell_no_speed),
      cmocka_unit_test(one_rank_has_no_other_to_be_compared_with),
      cmocka_unit_test(a_noisy_run_is_not_slow),
      cmocka_unit_test(a_device_is_judged_by_its_own_noise_and_not_by_that_of_exchanges),
      cmocka_unit_test(ways_are_held_against_limits_and_against_those_like_them),
      cmocka_unit_test(of_a_slow_way_the_end_is_named_whose_device_is_slow),
      cmocka_unit_test(how_bytes_went_is_told_by_what_was_counted),
      cmocka_unit_test(ways_of_another_kind_are_no_measure),
      cmocka_unit_test(ranks_that_share_cores_share_a_device_where_that_is_a_cpu),
      cmocka_unit_test(ranks_that_share_a_device_have_one),
      cmocka_unit_test(a_ceiling_is_held_against_theory_where_devices_tell_it),
      cmocka_unit_test(only_forbidden_reasons_of_throttling_count),
      cmocka_unit_test(errors_counted_meanwhile_are_held_against_the_rank_that_has_most),
      cmocka_unit_test(nvlink_crc_errors_are_held_against_their_rate),
      cmocka_unit_test(what_only_some_ranks_tell_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
