/* SPDX-License-Identifier: MIT */
/* Tests the checks of a policy on documents of whole runs. */
#include "tests/unit/unit.h"

#include <math.h>

#include "tests/unit/run_document.h"

static const double steady[] = {1, 1, 1, 1, 1};

TEST(the_checks_of_speed_hold_at_their_limits)
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
  json_t *run = whole_run(steady, 5, 4);
  for (size_t c = 0; c < sizeof checks / sizeof *checks; c++) {
    struct check pass = checked(run, checks[c].pass), fail = checked(run, checks[c].fail);
    assert_true(fabs(pass.value - checks[c].value) < 1e-9 && fail.value == pass.value);
    assert_int_equal(pass.outcome, CHECK_PASS);
    assert_int_equal(fail.outcome, CHECK_FAIL);
  }
  assert_int_equal(checked(run, "{\"device_spread_max\": 0.06}").rank, 3);
  json_decref(run);
}

TEST(one_interrupted_block_is_no_slow_machine)
{
  const double interrupted[] = {1, 1, 1, 1, 6};
  json_t *run = whole_run(interrupted, 5, 4);
  put(run, "result.gflops", json_real(1.8));
  struct check all = checked(run, "{\"efficiency_min\": 0.9}");
  assert_true(all.outcome == CHECK_PASS && fabs(all.value - 3.6 / 3.97) < 1e-9);
  json_decref(run);
}

TEST(two_blocks_give_no_speed)
{
  json_t *run = whole_run(steady, 2, 4);
  static const char *const texts[] = {"{\"ceiling_share_min\": 0}", "{\"efficiency_min\": 0}",
                                      "{\"device_spread_max\": 9}", "{\"noise_max\": 9}",
                                      "{\"device_gflops_min\": 0}"};
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
    struct check check = checked(run, texts[t]);
    assert_int_equal(check.outcome, CHECK_UNKNOWN);
    assert_string_equal(check.why, "needs 3 timed blocks");
  }
  assert_int_equal(checked(run, "{\"devices_per_host\": 4}").outcome, CHECK_PASS);
  put(run, "result.counts", json_object());
  assert_string_equal(checked(run, "{\"noise_max\": 9}").why, "emulated, so no speed");
  json_decref(run);
  run = whole_run(steady, 5, 4);
  assert_string_equal(checked(run, "{\"stragglers_max\": 0}").why, "needs 6 timed blocks");
  json_decref(run);
}

TEST(each_check_needs_its_number_of_ranks)
{
  static const char *const pairs =
      " device_spread_max exchange_us_max exchange_gbps_min exchange_us_ratio_max "
      "exchange_gbps_ratio_min gemm_spread_max gemm_power_limited_spread_max "
      "wire_spread_max fabric_contention_max collective_busbw_min ";
  char key[40];
  for (int k = 0; k < CHECK_KINDS; k++) {
    snprintf(key, sizeof key, " %s ", check_kinds[k].key);
    const int least = strstr(pairs, key)                        ? 2
                      : strcmp(key, " fabric_spread_max ") == 0 ? 3
                      : strcmp(key, " stragglers_max ") == 0    ? 4
                                                                : check_kinds[k].name != NULL;
    assert_int_equal(check_kinds[k].ranks_min, least);
  }
  json_t *one = whole_run(steady, 5, 1), *three = whole_run(steady, 5, 3);
  assert_string_equal(checked(one, "{\"device_spread_max\": 0.01}").why, "needs 2 ranks");
  assert_int_equal(checked(three, "{\"stragglers_max\": 9}").outcome, CHECK_INAPPLICABLE);
  json_decref(one);
  json_decref(three);
}

static int outcomes(const json_t *document, const char *policy, enum check_outcome outcome)
{
  struct checks all;
  struct judge_run run = viewed(document);
  run_checked(&run, policy, &all);
  judge_run_free(&run);
  return checks_count(&all, outcome);
}

TEST(a_noisy_run_is_not_slow)
{
  const double varied[] = {0.96, 0.96, 1, 1.04, 1.04};  /* noise at most 0.0961 */
  const double quieter[] = {0.98, 0.98, 1, 1.02, 1.02}; /* at most 0.0480 */
  json_t *run = whole_run(varied, 5, 4), *quiet = whole_run(quieter, 5, 4);
  assert_int_equal(checked(run, "{\"noise_max\": 0.0960}").outcome, CHECK_NOISY);
  assert_int_equal(checked(run, "{\"noise_max\": 0.0961}").outcome, CHECK_PASS);
  assert_int_equal(checked(run, "{\"efficiency_min\": 2}").outcome, CHECK_NOISY);
  assert_int_equal(checked(run, "{\"efficiency_min\": 0.9}").outcome, CHECK_PASS);
  assert_int_equal(checked(run, "{\"devices_per_host\": 9}").outcome, CHECK_FAIL);
  assert_int_equal(outcomes(run, "{\"noise_max\": 0.1, \"efficiency_min\": 2}", CHECK_FAIL), 1);
  assert_int_equal(checked(quiet, "{\"efficiency_min\": 2}").outcome, CHECK_FAIL);
  assert_int_equal(outcomes(quiet, "{\"noise_max\": 0, \"efficiency_min\": 2}", CHECK_NOISY), 2);
  json_decref(run);
  json_decref(quiet);
}

TEST(a_device_is_judged_by_its_own_noise_and_not_by_that_of_exchanges)
{
  const double varied[] = {0.96, 0.96, 1, 1.04, 1.04};
  static const char *const slow[] = {"{\"device_gflops_min\": 2}", "{\"ceiling_share_min\": 1}",
                                     "{\"device_spread_max\": 0}"};
  json_t *run = whole_run(varied, 5, 4);
  for (int c = 0; c < 3; c++) assert_int_equal(checked(run, slow[c]).outcome, CHECK_FAIL);
  assert_int_equal(checked(run, "{\"device_noise_max\": 0}").outcome, CHECK_PASS);
  put(run, "ranks.2.noise", json_real(0.0501));
  for (int c = 0; c < 3; c++) assert_int_equal(checked(run, slow[c]).outcome, CHECK_NOISY);
  struct check noise = checked(run, "{\"device_noise_max\": 0.05}");
  assert_true(noise.outcome == CHECK_NOISY && noise.value == 0.0501);
  assert_int_equal(checked(run, "{\"noise_max\": 0.06, \"device_gflops_min\": 2}").outcome, CHECK_FAIL);
  assert_int_equal(outcomes(run, "{\"device_noise_max\": 0.06, \"device_gflops_min\": 2}", CHECK_FAIL), 1);
  assert_int_equal(outcomes(run, "{\"device_noise_max\": 0.06, \"efficiency_min\": 2}", CHECK_NOISY), 1);
  json_decref(run);
}

/* A busy host may slow exchanges and devices that take its cores, but not computing on a GPU. So
 * the check of GPU stragglers is noisy only if they are slow in exchange. */
TEST(what_a_busy_host_may_explain_is_noisy)
{
  static const struct {
    const char *policy;
    int takes_cores;
    enum judge_of of, once;
    enum check_outcome outcome;
  } cases[] = {{"{\"efficiency_min\": 2}", 0, JUDGE_COMPUTE, JUDGE_COMPUTE, CHECK_NOISY},
               {"{\"device_gflops_min\": 2}", 0, JUDGE_COMPUTE, JUDGE_COMPUTE, CHECK_FAIL},
               {"{\"device_gflops_min\": 2}", 0, JUDGE_EXCHANGE, JUDGE_EXCHANGE, CHECK_FAIL},
               {"{\"device_gflops_min\": 2}", 1, JUDGE_COMPUTE, JUDGE_COMPUTE, CHECK_NOISY},
               {"{\"stragglers_max\": 0}", 0, JUDGE_COMPUTE, JUDGE_COMPUTE, CHECK_FAIL},
               {"{\"stragglers_max\": 0}", 0, JUDGE_EXCHANGE, JUDGE_EXCHANGE, CHECK_NOISY},
               {"{\"stragglers_max\": 0}", 0, JUDGE_EXCHANGE, JUDGE_COMPUTE, CHECK_FAIL},
               {"{\"stragglers_max\": 0}", 0, JUDGE_COMPUTE, JUDGE_EXCHANGE, CHECK_FAIL},
               {"{\"exchange_us_max\": 0.9}", 0, JUDGE_COMPUTE, JUDGE_COMPUTE, CHECK_NOISY},
               {"{\"devices_per_host\": 9}", 1, JUDGE_COMPUTE, JUDGE_COMPUTE, CHECK_FAIL}};
  static const double seven[] = {1, 1, 1, 1, 1, 1, 1};
  json_t *document = whole_run(seven, 7, 4);
  put(document, "ranks.2.starved", json_real(0.0501));
  path_add(document, 0, 1, (struct exchange){1e-6, 1});
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    put(document, "ranks.0.takes_cores", json_boolean(cases[c].takes_cores));
    struct judge_run run = viewed(document);
    run.stragglers[run.n_stragglers++] = (struct straggler){.rank = 1, .of = cases[c].of};
    run.slowdowns[run.n_slowdowns++] = (struct slowdown){.rank = 1, .of = cases[c].once};
    const struct check check = run_checked(&run, cases[c].policy, NULL);
    assert_int_equal(check.outcome, cases[c].outcome);
    if (check.outcome == CHECK_NOISY)
      assert_string_equal(check.why, "the host is busy, rank 2 waited 5.0% for a core: run again");
    judge_run_free(&run);
  }
  put(document, "ranks.2.starved", json_real(0.05));
  assert_int_equal(checked(document, "{\"efficiency_min\": 2}").outcome, CHECK_FAIL);
  put(document, "ranks.0.starved", json_real(0.0501)); /* of the first rank alone */
  assert_int_equal(checked(document, "{\"efficiency_min\": 2}").outcome, CHECK_NOISY);
  json_decref(document);
}

/* ---- pairs ---- */

/* Returns a run of eight ranks in a ring, on one host, by p2p. */
static json_t *ring(struct exchange between_3_and_4)
{
  json_t *run = whole_run(steady, 5, 8);
  for (int r = 0; r < 8; r++)
    for (int m = 0; m < 2; m++) {
      const int peer = (r + (m ? 1 : 7)) % 8;
      path_add(run, r, peer,
               r + peer == 7 && r > 0 && peer > 0 ? between_3_and_4 : (struct exchange){2e-6, 50});
    }
  return run;
}

TEST(pairs_are_held_against_limits_and_against_those_like_them)
{
  json_t *run = ring((struct exchange){2e-6, 50});
  assert_int_equal(checked(run, "{\"exchange_us_ratio_max\": 1}").outcome, CHECK_PASS);
  json_decref(run);
  run = ring((struct exchange){5e-6, 20});
  struct check late = checked(run, "{\"exchange_us_ratio_max\": 2.4}"),
               slow = checked(run, "{\"exchange_gbps_ratio_min\": 0.5}");
  assert_true(late.outcome == CHECK_FAIL && fabs(late.value - 2.5) < 1e-9 && late.rank == 3);
  assert_true(slow.outcome == CHECK_FAIL && fabs(slow.value - 0.4) < 1e-9 && slow.rank == 3);
  assert_non_null(strstr(slow.why, "to rank 4; rank 3 on n1"));
  assert_int_equal(checked(run, "{\"exchange_us_max\": 4.9}").outcome, CHECK_FAIL);
  assert_int_equal(checked(run, "{\"exchange_us_max\": 5.1}").outcome, CHECK_PASS);
  assert_int_equal(checked(run, "{\"exchange_gbps_min\": 20.1}").outcome, CHECK_FAIL);
  assert_int_equal(checked(run, "{\"exchange_gbps_min\": 19.9}").outcome, CHECK_PASS);
  put(run, "paths.0.latency", json_real(6e-6));
  assert_int_equal(checked(run, "{\"exchange_us_max\": 5.1}").rank, 0);
  json_decref(run);
}

/* Returns a run of four ranks in a row, with figures of four H100 while a second program slowed the
 * third. Both paths of the third rank were slow, one in latency, the other in rate. */
static json_t *row(void)
{
  static const struct exchange pairs[] = {{4.46e-6, 276.4}, {64.14e-6, 278.5}, {18.68e-6, 69.2}};
  json_t *run = whole_run(steady, 5, 4);
  for (int r = 0; r < 4; r++)
    for (int peer = r - 1; peer <= r + 1; peer += 2)
      if (peer >= 0 && peer < 4) path_add(run, r, peer, pairs[peer < r ? peer : r]);
  return run;
}

static void assert_end(struct judge_run *run, const char *policy, int rank, int peer)
{
  const struct check check = run_checked(run, policy, NULL);
  char why[40];
  snprintf(why, sizeof why, "to rank %d; rank %d on n1", peer, rank);
  assert_int_equal(check.outcome, CHECK_FAIL);
  assert_int_equal(check.rank, rank);
  assert_int_equal(strncmp(check.why, why, strlen(why)), 0);
}

#define RANK(r) (1u << (r))

static void found_add(struct judge_run *run, unsigned always, unsigned once, enum judge_of of)
{
  for (int r = 0; r < run->n_ranks; r++) {
    if (always & RANK(r)) run->stragglers[run->n_stragglers++] = (struct straggler){.rank = r, .of = of};
    if (once & RANK(r)) run->slowdowns[run->n_slowdowns++] = (struct slowdown){.rank = r, .of = of};
  }
}

/* Ranks 1 and 2 have the longest latency, 2 and 3 the lowest rate. The slow device is named. */
TEST(of_a_slow_pair_the_end_is_named_whose_device_is_slow)
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
  json_t *document = row();
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const int late = cases[c].late, slow = cases[c].slow;
    struct judge_run run = viewed(document);
    found_add(&run, cases[c].compute, cases[c].compute_once, JUDGE_COMPUTE);
    found_add(&run, cases[c].exchange, cases[c].exchange_once, JUDGE_EXCHANGE);
    assert_end(&run, "{\"exchange_us_ratio_max\": 3}", late, 1 + 2 - late);
    assert_end(&run, "{\"exchange_us_max\": 64}", late, 1 + 2 - late);
    assert_end(&run, "{\"exchange_gbps_ratio_min\": 0.5}", slow, 2 + 3 - slow);
    assert_end(&run, "{\"exchange_gbps_min\": 70}", slow, 2 + 3 - slow);
    judge_run_free(&run);
  }
  put(document, "paths.0.gbps", json_null()); /* leaves the rates of five ends */
  assert_int_equal(checked(document, "{\"exchange_us_ratio_max\": 99}").outcome, CHECK_PASS);
  const struct check few = checked(document, "{\"exchange_gbps_ratio_min\": 0}");
  assert_int_equal(few.outcome, CHECK_INAPPLICABLE);
  assert_string_equal(few.why, "needs 3 pairs with one transport");
  json_decref(document);
}

/* Staged pairs, and pairs of different hosts, are slower than others without a fault. */
TEST(pairs_of_another_kind_are_no_measure)
{
  json_t *run = ring((struct exchange){5e-5, 1});
  assert_int_equal(checked(run, "{\"exchange_gbps_ratio_min\": 0.9}").outcome, CHECK_FAIL);
  put(run, "paths.7.used", json_string("staged")); /* of 3 to 4, and back */
  put(run, "paths.8.used", json_string("staged"));
  assert_int_equal(checked(run, "{\"exchange_gbps_ratio_min\": 0.9}").outcome, CHECK_PASS);
  put(run, "paths.7.used", json_string("p2p"));
  put(run, "paths.8.used", json_string("p2p"));
  put(run, "paths.7.handover", json_string("staged"));
  put(run, "paths.8.handover", json_string("staged"));
  assert_int_equal(checked(run, "{\"exchange_gbps_ratio_min\": 0.9}").outcome, CHECK_PASS);
  put(run, "paths.7.handover", json_null());
  put(run, "paths.8.handover", json_null());
  for (int r = 4; r < 8; r++) put_rank(run, r, "host_first", json_integer(4));
  for (int m = 0; m < 2; m++) { /* the path between 0 and 7, which also crosses hosts, is as slow */
    put(run, m ? "paths.0.latency" : "paths.15.latency", json_real(5e-5));
    put(run, m ? "paths.0.gbps" : "paths.15.gbps", json_real(1));
  }
  assert_int_equal(checked(run, "{\"exchange_us_ratio_max\": 1.1}").outcome, CHECK_PASS);
  put_rank(run, -1, "host_first", json_integer(0));
  assert_int_equal(checked(run, "{\"exchange_us_ratio_max\": 1.1}").outcome, CHECK_FAIL);
  json_decref(run);
  run = whole_run(steady, 5, 3); /* three ranks have only two pairs */
  for (int m = 0; m < 4; m++) path_add(run, (m + 1) / 2, m / 2 + !(m % 2), (struct exchange){2e-6, 50});
  assert_int_equal(checked(run, "{\"exchange_us_ratio_max\": 1.1}").outcome, CHECK_INAPPLICABLE);
  json_decref(run);
}

/* Neither an unknown rate nor unmeasured pairs may pass a check. */
TEST(pairs_without_a_value_pass_nothing)
{
  json_t *run = ring((struct exchange){2e-6, 50}), *none = whole_run(steady, 5, 2);
  for (int m = 0; m < 16; m++) {
    char path[24];
    snprintf(path, sizeof path, "paths.%d.gbps", m);
    put(run, path, json_null());
  }
  assert_int_equal(checked(run, "{\"exchange_gbps_min\": 0}").outcome, CHECK_UNKNOWN);
  assert_int_equal(checked(none, "{\"exchange_us_max\": 9}").outcome, CHECK_UNKNOWN);
  assert_int_equal(checked(none, "{\"exchange_us_ratio_max\": 9}").outcome, CHECK_UNKNOWN);
  json_decref(run);
  json_decref(none);
}

/* ---- ranks ---- */

TEST(ranks_that_share_a_device_have_one)
{
  json_t *run = whole_run(steady, 5, 4);
  put_rank(run, -1, "device_sharers", json_integer(1));
  put_rank(run, -1, "device_shared", json_true());
  assert_int_equal(checked(run, "{\"devices_per_host\": 2}").outcome, CHECK_PASS);
  struct check check = checked(run, "{\"devices_per_host\": 4}");
  assert_true(check.outcome == CHECK_FAIL && check.value == 2);
  assert_int_equal(checked(run, "{\"devices_unshared\": true}").outcome, CHECK_FAIL);
  static const char *const shares[] = {"{\"ceiling_share_min\": 1}", "{\"device_gflops_min\": 9}",
                                       "{\"device_spread_max\": 0}", "{\"efficiency_min\": 1}"};
  for (int c = 0; c < 4; c++) {
    check = checked(run, shares[c]);
    assert_int_equal(check.outcome, CHECK_INAPPLICABLE);
    assert_string_equal(check.why, "ranks share devices");
  }
  put(run, "ranks.3.host_first", json_integer(3)); /* the host with fewer ranks counts */
  check = checked(run, "{\"devices_per_host\": 1}");
  assert_true(check.value == 1 && check.rank == 3);
  for (int r = 1; r < 4; r++) put_rank(run, r, "host_first", json_integer(1));
  check = checked(run, "{\"devices_per_host\": 1}");
  assert_true(check.value == 1 && check.rank == 0);
  json_decref(run);
}

/* Shared cores do not affect a GPU's times; a CPU's cores are the device itself. */
TEST(ranks_that_share_cores_share_a_device_where_that_is_a_cpu)
{
  json_t *run = whole_run(steady, 5, 4);
  put_rank(run, -1, "cpus_shared", json_true());
  assert_int_equal(checked(run, "{\"devices_unshared\": true}").outcome, CHECK_PASS);
  assert_int_equal(checked(run, "{\"binding\": true}").outcome, CHECK_FAIL);
  put_rank(run, -1, "is_cpu", json_true());
  assert_int_equal(checked(run, "{\"devices_unshared\": true}").outcome, CHECK_FAIL);
  assert_string_equal(checked(run, "{\"exchange_us_max\": 1}").why, "ranks share cores");
  json_decref(run);
}

TEST(a_ceiling_is_compared_with_theory_if_devices_report_it)
{
  json_t *run = whole_run(steady, 2, 4);
  struct check none = checked(run, "{\"theory_share_min\": 9, \"unknown_fails\": true}");
  assert_int_equal(none.outcome, CHECK_INAPPLICABLE);
  for (int r = 1; r < 4; r++) put_rank(run, r, "theory.share", json_real(r == 2 ? 0.8135478 : 0.9));
  struct check some = checked(run, "{\"theory_share_min\": 0.813, \"unknown_fails\": true}");
  assert_true(some.outcome == CHECK_PASS && some.rank == 2 && some.value == 0.8135478);
  assert_string_equal(some.why, "unknown on 1 of 4 ranks");
  assert_int_equal(checked(run, "{\"theory_share_min\": 0.814}").outcome, CHECK_FAIL);
  json_decref(run);
}

/* Half of the blocks were at the power limit, and a quarter too hot. */
TEST(only_forbidden_reasons_of_throttling_count)
{
  json_t *run = whole_run(steady, 5, 4);
  put_rank(run, -1, "telemetry.samples", json_integer(4));
  put_rank(run, -1, "telemetry.reasons", json_pack("{si, si}", "power cap", 2, "thermal", 1));
  struct check check = checked(run, "{\"throttled_max\": 0.25, \"throttle_forbidden\": [\"thermal\"]}");
  assert_int_equal(check.outcome, CHECK_UNKNOWN); /* the telemetry of blocks is missing */
  put_rank(run, -1, "telemetry.blocks.throttled", json_array());
  check = checked(run, "{\"throttled_max\": 0.25, \"throttle_forbidden\": [\"thermal\"]}");
  assert_true(check.outcome == CHECK_PASS && check.value == 0.25);
  check = checked(run, "{\"throttled_max\": 0.25, \"throttle_forbidden\": [\"power_cap\"]}");
  assert_true(check.outcome == CHECK_FAIL && check.value == 0.5);
  put_rank(run, -1, "telemetry.samples", json_integer(1));
  put_rank(run, 2, "telemetry.reasons", json_pack("{si, si}", "thermal", 1, "power cap", 0));
  put_rank(run, 3, "telemetry.samples", json_integer(0));
  put_rank(run, 3, "telemetry.reasons", json_object());
  check = checked(run, "{\"throttled_max\": 0.9, \"throttle_forbidden\": [\"thermal\"]}");
  assert_true(check.value == 1 && check.rank == 0 && strstr(check.why, "unknown on 1 of 4 ranks"));
  json_decref(run);
}

TEST(lanes_that_a_device_has_and_does_not_use_are_missed)
{
  json_t *run = whole_run(steady, 5, 2);
  put_rank(run, -1, "telemetry.link.pcie_width", json_integer(8));
  assert_int_equal(checked(run, "{\"pcie_full\": true}").outcome, CHECK_UNKNOWN);
  put_rank(run, -1, "telemetry.link.pcie_width_max", json_integer(8));
  assert_int_equal(checked(run, "{\"pcie_full\": true}").outcome, CHECK_PASS);
  put_rank(run, 1, "telemetry.link.pcie_width_max", json_integer(16));
  assert_int_equal(checked(run, "{\"pcie_full\": true}").outcome, CHECK_FAIL);
  json_decref(run);
}

/* The rank with the most errors is reported. Counters that no rank has are named, and never fail
 * the check. */
TEST(errors_counted_meanwhile_are_held_against_the_rank_that_has_most)
{
  json_t *run = whole_run(steady, 2, 4);
  struct check check = checked(run, "{\"counted_max\": 0, \"unknown_fails\": true}");
  assert_int_equal(check.outcome, CHECK_INAPPLICABLE);
  put_rank(run, -1, "counted", json_pack("{si, si, si}", "pcie_replays", 0, "nvlink_crc", 0, "xids", 0));
  put_rank(run, 0, "counted",
           json_pack("{si, si, si, si}", "pcie_replays", 0, "nvlink_crc", 0, "xids", 0, "retired", 0));
  check = checked(run, "{\"counted_max\": 0, \"unknown_fails\": true}");
  assert_true(check.outcome == CHECK_PASS && check.value == 0 && check.rank == -1);
  assert_string_equal(check.why, "cannot be read: ECC errors corrected, ECC errors not corrected, "
                                 "NVLink replays, NVLink recoveries, errors of network cards");
  /* CRC errors do not count: they have a separate limit. */
  put_rank(run, 1, "counted", json_pack("{si, si, si}", "pcie_replays", 3, "nvlink_crc", 1000, "xids", 0));
  put_rank(run, 2, "counted", json_pack("{si, si, si}", "pcie_replays", 0, "nvlink_crc", 1, "xids", 4));
  put_rank(run, 2, "counted_last.xids", json_string("Xid 79"));
  check = checked(run, "{\"counted_max\": 3}");
  assert_true(check.outcome == CHECK_FAIL && check.value == 4 && check.rank == 2);
  assert_int_equal(strncmp(check.why, "Xid events 4 (the last: Xid 79); rank 2 on ", 43), 0);
  assert_int_equal(checked(run, "{\"counted_max\": 4}").outcome, CHECK_PASS);
  json_decref(run);
}

/* Three of four ranks report the rate; the third has the highest. */
TEST(nvlink_crc_errors_are_held_against_their_rate)
{
  json_t *run = whole_run(steady, 2, 4);
  struct policy built_in;
  struct check check = checked(run, "{\"nvlink_crc_rate_max\": 0, \"unknown_fails\": true}");
  assert_int_equal(check.outcome, CHECK_INAPPLICABLE);
  assert_string_equal(check.why, "no device reports error counters");
  for (int r = 0; r < 3; r++) put_rank(run, r, "telemetry.nvlink_crc_rate", json_real(r == 2 ? 99.5 : 20));
  check = checked(run, "{\"nvlink_crc_rate_max\": 99.5, \"unknown_fails\": true}");
  assert_true(check.outcome == CHECK_PASS && check.value == 99.5 && check.rank == 2);
  assert_string_equal(check.why, "unknown on 1 of 4 ranks");
  check = checked(run, "{\"nvlink_crc_rate_max\": 99}");
  assert_true(check.outcome == CHECK_FAIL && check.value == 99.5 && check.rank == 2);
  assert_non_null(strstr(check.why, "; rank 2 on "));
  static const char *const names[] = {"default", "h100", "h200"};
  for (int n = 0; n < 3; n++) {
    assert_int_equal(policy_read(names[n], &built_in), STATUS_OK);
    assert_true(policy_limit(&built_in, "nvlink_crc_rate_max") == 100 &&
                policy_limit(&built_in, "counted_max") == 0);
  }
  json_decref(run);
}

TEST(values_of_some_ranks_only_are_reported)
{
  json_t *run = whole_run(steady, 5, 4);
  for (int r = 0; r < 4; r++) put_rank(run, r, "telemetry.ecc.on", r == 2 ? json_null() : json_true());
  struct check check = checked(run, "{\"ecc\": true}");
  assert_int_equal(check.outcome, CHECK_PASS);
  assert_string_equal(check.why, "unknown on 1 of 4 ranks");
  assert_int_equal(checked(run, "{\"ecc\": true, \"unknown_fails\": true}").outcome, CHECK_FAIL);
  json_decref(run);
}

UNIT_MAIN(NULL, NULL)
