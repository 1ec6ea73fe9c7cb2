/* SPDX-License-Identifier: MIT */
/* Judges documents of runs: findings and their texts; unknown values pass no check; and a stored
 * run gets the verdict of the live one. */
#include "tests/unit/unit.h"

#include <math.h>

#include "himeno/measure/measure.h"
#include "himeno/kernels/kernels.h"
#include "base/stats.h"
#include "judge/parts.h"
#include "tests/unit/capture.h"
#include "tests/unit/machine.h"
#include "tests/unit/run_document.h"

static const double seven[] = {1, 1, 1, 1, 1, 1, 1};

/* ---- words ---- */

TEST(the_lowest_clock_of_a_device_is_what_differs)
{
  json_t *document = whole_run(seven, 7, 3);
  char text[300];
  for (int r = 0; r < 3; r++)
    put_rank(document, r, "telemetry.sm_mhz", json_pack("[i, i]", r == 1 ? 1500 : 1980, 1980));
  struct judge_run run = viewed(document);
  assert_string_equal(suspect_differs(&run, 1, text, sizeof text),
                      "clock in MHz 1500 (median of the ranks: 1980)");
  assert_string_equal(suspect_differs(&run, 2, text, sizeof text), "its device reports no difference");
  judge_run_free(&run);
  put_rank(document, 2, "numa", json_integer(1));
  put_rank(document, 2, "device_numa", json_integer(0));
  put_rank(document, -1, "telemetry.link.pcie_width", json_integer(16));
  put_rank(document, 2, "telemetry.link.pcie_width", json_integer(8));
  put_rank(document, 2, "device_sharers", json_integer(1));
  put_rank(document, 2, "cpus_shared", json_true());
  run = viewed(document);
  assert_string_equal(
      suspect_differs(&run, 2, text, sizeof text),
      "PCIe lanes 8 (median of the ranks: 16), cores on NUMA node 1, device on 0, device shared with "
      "other ranks, cores shared with other ranks");
  judge_run_free(&run);
  json_decref(document);
}

TEST(names_and_counters_cannot_control_a_terminal)
{
  json_t *document = whole_run(seven, 7, 1);
  char text[200];
  put_rank(document, 0, "host", json_string("n1\033[2J"));
  put_rank(document, 0, "device", json_string("a\nb"));
  put_rank(document, 0, "counted", json_pack("{si, si}", "nvlink_crc", 1, "xids", 4));
  put_rank(document, 0, "counted_last.xids", json_string("Xid\t79"));
  struct judge_run run = viewed(document);
  assert_string_equal(suspect_name(&run, 0, text, sizeof text), "rank 0 on n1?[2J, a?b");
  assert_string_equal(suspect_counted(&run, 0, text, sizeof text),
                      "NVLink CRC errors 1, Xid events 4 (the last: Xid?79)");
  judge_run_free(&run);
  json_decref(document);
}

/* Returns telemetry of rows of four blocks. Blocks 8 to 15, slow ones, have these values. */
static json_t *telemetry(int clock, int celsius, int watts, const char *reasons)
{
  json_t *document = whole_run(seven, 7, 1);
  json_t *blocks = json_pack("{si, s[], s[], s[], s[], s[]}", "each", 4, "watts", "sm_mhz", "memory_mhz",
                             "celsius", "throttled");
  for (int r = 0; r < 6; r++) {
    const int is = r == 2 || r == 3;
    json_array_append_new(json_object_get(blocks, "watts"), json_integer(is ? watts : 640));
    json_array_append_new(json_object_get(blocks, "sm_mhz"), json_integer(is ? clock - 2 * (r == 3) : 1980));
    json_array_append_new(json_object_get(blocks, "memory_mhz"), json_integer(2619));
    json_array_append_new(json_object_get(blocks, "celsius"), json_integer(is ? celsius : 55));
    json_array_append_new(json_object_get(blocks, "throttled"), json_string(is ? reasons : "power cap"));
  }
  put_rank(document, 0, "telemetry.blocks", blocks);
  put_rank(document, 0, "telemetry.changes",
           json_pack("[{si, ss}, {si, ss}]", "block", 15, "of", "nvlink_crc", "block", 16, "of", "xids"));
  return document;
}

static json_t *meanwhile_of(const struct judge_run *run, const struct slowdown *slowdown)
{
  struct doc d;
  doc_open(&d, 0);
  suspect_concurrent_document(&d, run, slowdown);
  json_t *document = doc_close(&d), *meanwhile = json_incref(json_object_get(document, "meanwhile"));
  json_decref(document);
  return meanwhile;
}

TEST(a_device_state_seen_only_in_a_slowdown_is_reported)
{
  const struct slowdown s = {.first = 8, .last = 15, .slowness = 1.25, .begin = 20, .end = 35};
  char text[600];
  json_t *document = telemetry(1401, 61, 410, "power cap, thermal");
  struct judge_run run = viewed(document);
  json_t *meanwhile = meanwhile_of(&run, &s),
         *is = json_pack("{s[f, f], s[f, f], s[f, f], s[f, f], ss, s[s]}", "watts", 410.0, 640.0, "sm_mhz",
                         1400.0, 1980.0, "memory_mhz", 2619.0, 2619.0, "celsius", 61.0, 55.0, "throttled",
                         "thermal", "changed", "nvlink_crc");
  assert_true(json_equal(meanwhile, is));
  json_decref(is);
  json_decref(meanwhile);
  assert_non_null(
      strstr(suspect_slowdown(&run, &s, text, sizeof text),
             ", clock 1400 MHz (otherwise 1980), 61 C (otherwise 55), 410 W (otherwise 640), throttled "
             "only then (thermal), nvlink_crc changed"));
  judge_run_free(&run);
  json_decref(document);
  document = telemetry(1981, 55, 660, "power cap");
  put_rank(document, 0, "telemetry.changes", json_array());
  run = viewed(document);
  assert_non_null(strstr(suspect_slowdown(&run, &s, text, sizeof text),
                         "blocks 8 to 15, its device reported no difference"));
  judge_run_free(&run);
  json_decref(document);
}

/* Ranks 0 and 1 were slow in exchange; rank 2, the other neighbour of 1, was slow later. */
TEST(both_ends_of_a_link_with_a_slowdown_are_reported)
{
  json_t *document = whole_run(seven, 7, 3);
  char text[600];
  for (int r = 0; r < 3; r++) {
    put_rank(document, r, "host", json_sprintf("n%d", r));
    if (r < 2) path_add(document, r, r + 1, (struct exchange){1, 1});
    if (r > 0) path_add(document, r, r - 1, (struct exchange){1, 1});
  }
  struct judge_run run = viewed(document);
  run.n_slowdowns = 3;
  for (int r = 0; r < 3; r++)
    run.slowdowns[r] = (struct slowdown){
        .rank = r, .of = JUDGE_EXCHANGE, .slowness = 4, .begin = r == 2 ? 50 : 20, .end = r == 2 ? 70 : 35};
  assert_non_null(strstr(suspect_slowdown(&run, &run.slowdowns[0], text, sizeof text),
                         "; so was its neighbour i+, rank 1 on n1: suspect the link between them"));
  assert_non_null(strstr(suspect_slowdown(&run, &run.slowdowns[1], text, sizeof text),
                         "; so was its neighbour i-, rank 0 on n0: suspect the link between them"));
  assert_null(strstr(suspect_slowdown(&run, &run.slowdowns[2], text, sizeof text), "link"));
  run.slowdowns[0].of = JUDGE_COMPUTE;
  assert_null(strstr(suspect_slowdown(&run, &run.slowdowns[0], text, sizeof text), "link"));
  judge_run_free(&run);
  json_decref(document);
}

/* ---- values that a document lacks ---- */

TEST(a_value_that_a_document_lacks_passes_nothing)
{
  char keys[] = "efficiency_min device_spread_max device_gflops_min ceiling_share_min binding "
                "devices_unshared devices_per_host ecc ecc_corrected_max retired_max pcie_gen_min pcie_full "
                "nvlinks_min sm_mhz_min celsius_max cards_min card_gbps_min device_noise_max stragglers_max "
                "exchange_us_max exchange_us_ratio_max exchange_gbps_min exchange_gbps_ratio_min";
  json_t *document = whole_run(seven, 7, 5), *row;
  size_t r;
  json_array_foreach(json_object_get(document, "ranks"), r, row) json_object_clear(row);
  for (char *key = strtok(keys, " "); key; key = strtok(NULL, " ")) {
    char policy[80];
    const int flag = check_kinds[check_kind_find(key)].values == CHECK_FLAG;
    snprintf(policy, sizeof policy, "{\"%s\": %s}", key, flag ? "true" : "0");
    assert_int_equal(checked(document, policy).outcome, CHECK_UNKNOWN);
  }
  json_object_set_new(document, "series", json_null());
  assert_int_equal(checked(document, "{\"episodes_max\": 9}").outcome, CHECK_UNKNOWN);
  assert_int_equal(checked(document, "{\"stragglers_max\": 9}").outcome, CHECK_UNKNOWN);
  json_decref(document);
}

TEST(hosts_are_told_apart_by_their_names_in_documents_of_earlier_builds)
{
  static const char *const names[] = {"n1", "n2", "n2", "n1", "n2"};
  static const int first[] = {0, 1, 1, 0, 1};
  json_t *document = whole_run(seven, 7, 5);
  for (int r = 0; r < 5; r++) {
    put_rank(document, r, "host_first", r == 3 ? json_integer(4) : json_null());
    put_rank(document, r, "host", json_string(names[r]));
  }
  struct judge_run run = viewed(document);
  for (int r = 0; r < 5; r++) assert_int_equal(run.ranks[r].host, first[r]);
  judge_run_free(&run);
  json_decref(document);
}

TEST(other_programs_have_other_values)
{
  json_t *document = whole_run(seven, 7, 2);
  json_object_set_new(document, "program", json_string("gemm-gpu"));
  struct check none = checked(document, "{\"ecc\": true, \"unknown_fails\": true}");
  assert_int_equal(none.outcome, CHECK_INAPPLICABLE);
  assert_string_equal(none.why, "gemm-gpu does not measure it");
  assert_int_equal(checked(document, "{\"devices_unshared\": true}").outcome, CHECK_PASS);
  json_decref(document);
}

/* ---- the verdict ---- */

static status_t verdict_of(json_t *document, const char *policy)
{
  struct judge_limits limits = {.policy_name = "test"};
  struct judged judged;
  struct capture capture = capture_begin(stderr);
  assert_int_equal(policy_parse(policy, strlen(policy), "test", &limits.policy), STATUS_OK);
  assert_int_equal(judge_document(&limits, document, "test", &judged), STATUS_OK);
  free(capture_end(&capture));
  assert_string_equal(view_text(document, "result.verdict"), status_verdict(judged.verdict));
  assert_int_equal(view_number(document, "result.accept.accepted") > 0,
                   judged.verdict == STATUS_OK && !judged.partial);
  judged_free(&judged);
  return judged.verdict;
}

TEST(the_verdict_is_the_gravest_and_not_that_of_an_earlier_judgement)
{
  static const char pass[] = "{\"devices_per_host\": 2}", fail[] = "{\"devices_per_host\": 3}",
                    nothing[] = "{\"ecc\": true}",
                    tolerant[] = "{\"devices_per_host\": 2, \"unverified_passes\": true}";
  json_t *document = whole_run(seven, 7, 2);
  assert_int_equal(verdict_of(document, fail), STATUS_SLOW);
  assert_int_equal(verdict_of(document, nothing), STATUS_USAGE);
  assert_int_equal(verdict_of(document, pass), STATUS_OK);
  json_object_set_new(document, "partial", json_true());
  assert_int_equal(verdict_of(document, pass), STATUS_INCOMPLETE);
  put(document, "result.verdict", json_string("wrong"));
  assert_int_equal(verdict_of(document, fail), STATUS_WRONG);
  json_object_set_new(document, "partial", json_false());
  put(document, "result.verdict", json_string("hang"));
  assert_int_equal(verdict_of(document, pass), STATUS_HANG);
  put(document, "result.verdict", json_string("pass"));
  for (int official = 0; official < 2; official++) {
    put(document, "result.verified", json_string(official ? "rehearsal" : "no"));
    put(document, "config.verify", json_string("auto"));
    assert_int_equal(verdict_of(document, pass), STATUS_ENVIRONMENT);
    put(document, "config.verify", json_string("off"));
    assert_int_equal(verdict_of(document, pass), STATUS_USAGE);
    assert_int_equal(verdict_of(document, tolerant), STATUS_OK);
  }
  put(document, "result.verified", json_string("known"));
  /* gemm-gpu itself found the run slow, and a policy with other limits does not change that. */
  json_object_set_new(document, "program", json_string("gemm-gpu"));
  put(document, "result.verdict", json_string("slow"));
  assert_int_equal(verdict_of(document, pass), STATUS_SLOW);
  json_decref(document);
}

/* ---- live and stored ---- */

#define RANKS_MAX 512
#define BLOCKS    256
#define SLOW      77
#define TRANSIENT 33

/* Fills a run on \a ranks ranks of a simulated machine, with blocks of three seconds. Rank SLOW is
 * a straggler; rank TRANSIENT computes slowly in blocks 100 to 119. */
static void run_fill(int ranks, struct himeno_result *result)
{
  static const int side[][3] = {{8, 4, 4}, {8, 8, 8}};
  const int *procs = side[ranks == RANKS_MAX];
  const struct machine machine = {.seed = 3, .device[SLOW] = 1.05};
  const int64_t global[3] = {62 * procs[0] + 2, 62 * procs[1] + 2, 126 * procs[2] + 2};
  *result = (struct himeno_result){.verification.source = VERIFY_KNOWN,
                                   .ranks = {.n = ranks, .kept_blocks = BLOCKS}};
  struct himeno_ranks *all = &result->ranks;
  struct himeno_timing *timing = &result->timing;
  all->rank = calloc((size_t)ranks, sizeof *all->rank);
  all->times = calloc((size_t)ranks * BLOCKS, sizeof *all->times);
  all->throttled = calloc(BLOCKS, sizeof *all->throttled);
  for (int b = 0; b < BLOCKS; b++) {
    all->when[b] = (struct record_when){3.0 * (b + 1), b};
    assert_int_equal(stats_add(&timing->samples, &timing->n_samples, 3), STATUS_OK);
  }
  for (int r = 0; r < ranks; r++) {
    struct himeno_rank *rank = &all->rank[r];
    struct decomp decomp;
    struct layout layout;
    struct halo_plan plan;
    static const struct path_texts p2p = {.used = "p2p"};
    decomp_init(&decomp, global, procs, r);
    assert_int_equal(layout_init(&layout, &decomp, 1, 0), STATUS_OK);
    halo_plan_init(&plan, &decomp, &layout, 1);
    *rank = (struct himeno_rank){
        .points = box_points(&decomp.owned), .n_paths = plan.n, .row.host_first = r & ~7};
    snprintf(rank->row.host, sizeof rank->row.host, "n%d", r / 8);
    for (int m = 0; m < plan.n; m++) {
      rank->paths[m] = (struct himeno_path){.peer = plan.messages[m].peer, .texts = &p2p};
      rank->paths[m].bytes = plan.messages[m].count * 4;
    }
    for (int b = 0; b < BLOCKS; b++) {
      const struct judge_block block = machine_block(&machine, r, b, (double)rank->points, &plan);
      struct record_block *times = &all->times[r * BLOCKS + b];
      times->compute = block.compute;
      times->exchange = block.exchange;
      if (r == TRANSIENT && b >= 100 && b < 120) times->compute *= 1.2;
    }
  }
  himeno_media_find(all);
}

static const struct judge_limits *found_limits(void)
{
  static const char text[] = "{\"stragglers_max\": 0, \"episodes_max\": 0, \"devices_per_host\": 8}";
  static struct judge_limits limits = {.policy_name = "test"};
  assert_int_equal(policy_parse(text, strlen(text), "test", &limits.policy), STATUS_OK);
  return &limits;
}

static void assert_found(const struct judged *judged)
{
  static const int ranks[] = {SLOW, TRANSIENT, -1};
  for (int c = 0; c < judged->checks.n; c++)
    assert_int_equal(judged->checks.check[c].rank,
                     judged->checks.check[c].outcome == CHECK_FAIL ? ranks[c] : 0);
  const struct judge_run *run = &judged->run;
  assert_int_equal(judged->verdict, STATUS_SLOW);
  assert_int_equal(checks_count(&judged->checks, CHECK_FAIL), 2);
  assert_int_equal(run->n_stragglers, 1);
  assert_true(run->stragglers[0].rank == SLOW && run->stragglers[0].of == JUDGE_COMPUTE);
  assert_int_equal(run->n_slowdowns, 1);
  assert_true(run->slowdowns[0].rank == TRANSIENT && run->slowdowns[0].of == JUDGE_COMPUTE);
  assert_true(run->slowdowns[0].first == 100 && run->slowdowns[0].last == 119);
  assert_true(run->slowdowns[0].begin == 300 && run->slowdowns[0].end == 360);
}

TEST(many_ranks_are_judged_the_same_live_and_stored)
{
  static const int many[] = {128, RANKS_MAX};
  static struct himeno_result result;
  const struct himeno_kernel_set *set = himeno_kernels_find("null");
  const struct himeno_config config = {.block = 120, .seconds = 768};
  for (int n = 0; n < 2; n++) {
    const struct himeno_choice choice = {.config = &config,
                                         .placement = {.ranks = many[n], .backend = gpu_backend_find("null")},
                                         .kernel = &set->kernels[0],
                                         .transport = halo_transports[0],
                                         .size.name = "test"};
    struct judged live, stored;
    json_t *document, *again;
    run_fill(many[n], &result);
    assert_int_equal(himeno_judge(&choice, &result, found_limits(), &live, &document), STATUS_OK);
    assert_found(&live);
    for (int r = 0; r < many[n]; r++)
      for (int b = 0; b < BLOCKS; b++) {
        const struct record_block *was = &result.ranks.times[r * BLOCKS + b];
        const struct judge_block *is = &live.run.blocks[r * BLOCKS + b];
        assert_true(fabs(is->compute - was->compute) <= (n ? 1e-7 * was->compute : 0));
        assert_true(fabs(is->exchange - was->exchange) <= (n ? 1e-7 * was->exchange : 0));
      }
    assert_int_equal(document_reread(json_incref(document), &again), STATUS_OK);
    document_rows_unpack(document);
    assert_int_equal(judge_document(found_limits(), again, "test", &stored), STATUS_OK);
    assert_found(&stored);
    assert_true(json_equal(document, again));
    judged_free(&live);
    judged_free(&stored);
    json_decref(document);
    json_decref(again);
    himeno_result_free(&result);
  }
}

/* Returns a run of four hosts, with streams of 0.4 Gbit/s from each to each other. */
static json_t *run_with_fabric(void)
{
  json_t *run = whole_run((const double[]){1, 1, 1}, 3, 4);
  char path[40];
  for (int r = 0; r < 4; r++) {
    snprintf(path, sizeof path, "ranks.%d.host_first", r);
    put(run, path, json_integer(r));
    snprintf(path, sizeof path, "ranks.%d.fabric", r);
    put(run, path, json_array());
    for (int s = 1; s < 4; s++)
      json_array_append_new(
          (json_t *)view_at(run, path),
          json_pack("{si, si, sf, sf}", "shift", s, "from", (r + 4 - s) % 4, "alone", 0.4, "all", 0.4));
  }
  return run;
}

TEST(of_a_slow_fabric_no_host_is_accused_and_a_slow_host_is_slow_alone)
{
  static const char policy[] = "{\"fabric_contention_max\": 1.4}", spread[] = "{\"fabric_spread_max\": 0.1}";
  json_t *run = run_with_fabric();
  assert_true(checked(run, policy).value == 1 && checked(run, spread).value == 0);
  put(run, "ranks.1.fabric.2.all", json_real(0.25)); /* the stream from rank 2, one of three */
  struct check check = checked(run, policy);
  assert_true(check.outcome == CHECK_FAIL && check.rank == -1 && fabs(check.value - 1.6) < 1e-9);
  assert_string_equal(check.why, "the fabric: rank 2 to rank 1, 3 hosts further");
  assert_true(checked(run, spread).value == 0);
  put(run, "ranks.1.fabric.0.alone", json_real(0.2)); /* a host with other fast pairs is not slow */
  assert_true(checked(run, spread).value == 0);
  const char *const out[] = {"ranks.0.fabric.0.alone", "ranks.1.fabric.1.alone", "ranks.2.fabric.2.alone"};
  for (int r = 0; r < 3; r++) put(run, out[r], json_real(0.3)); /* all that n3 sends */
  check = checked(run, spread);
  assert_true(check.outcome == CHECK_FAIL && check.rank == 3 && fabs(check.value - 0.25) < 1e-9);
  put(run, "ranks.1.fabric.2.all", json_null());
  assert_true(checked(run, policy).value == 1);
  put(run, "ranks.1.fabric.2.from", json_integer(-100000000)); /* as in a damaged document */
  assert_true(fabs(checked(run, spread).value - 0.25) < 1e-9);
  json_decref(run);
}

TEST(of_a_slow_collective_pairs_and_cards_name_the_culprit)
{
  static const char policy[] = "{\"collective_busbw_min\": 121}";
  json_t *run = run_with_pairs();
  put(run, "collectives",
      json_pack("[{s[{sf}]}, {ss, s[{sf}, {sf}]}]", "points", "busbw", 240.0, "used", "ncclAllReduce",
                "points", "busbw", 1.0, "busbw", 120.0));
  put(run, "cards",
      json_pack("[{si}, {ss, ss, si}]", "errors_meanwhile", 0, "card", "mlx5_1/1", "host", "n1",
                "errors_meanwhile", 7));
  const int of_3[] = {10, 11, 14, 15, 18, 19}; /* pairs that were not measured */
  for (int p = 0; p < 6; p++)
    json_object_del(json_array_get(json_object_get(run, "pairs"), (size_t)of_3[p]), "points");
  put(run, "pairs.0.points.0.gbps", json_real(60)); /* ranks 0 and 1, alone and with all */
  put(run, "pairs.1.points.0.gbps", json_real(15));
  struct check check = checked(run, policy);
  assert_true(check.outcome == CHECK_FAIL && check.value == 120 && check.rank == 2);
  assert_non_null(strstr(check.why, "ncclAllReduce; slowest pair: ranks 0 and 1 by p2p, 60 GB/s, 30% of the "
                                    "fastest; mlx5_1/1 of n1 counted 7 errors; rank 2 on n1"));
  put(run, "pairs.6.rank", json_integer(-100000000)); /* as in a damaged document */
  assert_int_equal(checked(run, policy).rank, 2);
  put(run, "pairs.8.points.0.gbps", json_real(200)); /* ranks 1 and 2 */
  assert_true(checked(run, policy).rank == -1 &&
              checked(run, "{\"collective_busbw_min\": 119}").outcome == CHECK_PASS);
  json_decref(run);
}

/* Returns eight cards at 0.96 of their ports' rate, but rank 2's has \a value in \a share. */
static json_t *run_with_wires(const char *share, double value)
{
  json_t *run = whole_run((const double[]){1, 1, 1}, 3, 8);
  char path[40];
  for (int r = 0; r < 8; r++) {
    snprintf(path, sizeof path, "ranks.%d.wire", r);
    put(run, path,
        json_pack("{ss, si, sf, sf, sf}", "card", "mlx5_0/1", "peer", (r + 4) % 8, "out", 0.96, "out_all",
                  0.96, "share", 0.96));
  }
  snprintf(path, sizeof path, "ranks.2.wire.%s", share);
  put(run, path, isnan(value) ? json_null() : json_real(value));
  return run;
}

TEST(a_slow_card_is_held_against_its_port_and_against_the_others)
{
  static const char *const modes[] = {"out", "out_all"};
  char path[40];
  for (int m = 0; m < 2; m++) {
    json_t *run = run_with_wires(modes[m], 0.96 * 0.92);
    struct check check = checked(run, "{\"wire_spread_max\": 0.0799}");
    assert_int_equal(check.outcome, CHECK_FAIL);
    assert_true(check.rank == 2 && fabs(check.value - 0.08) < 1e-9);
    assert_non_null(strstr(check.why, "mlx5_0/1 to rank 6's card; rank 2 on n1"));
    assert_int_equal(checked(run, "{\"wire_spread_max\": 0.0801}").outcome, CHECK_PASS);
    json_decref(run);
  }
  json_t *low = run_with_wires("share", 0.5), *unknown = run_with_wires("out", NAN);
  assert_int_equal(checked(low, "{\"wire_share_min\": 0.51}").rank, 2);
  assert_int_equal(checked(low, "{\"wire_share_min\": 0.49}").outcome, CHECK_PASS);
  assert_true(checked(unknown, "{\"wire_spread_max\": 0}").value == 0);
  for (int r = 0; r < 5; r++) { /* with only three cards there is no usual rate */
    snprintf(path, sizeof path, "ranks.%d.wire", r);
    json_object_clear((json_t *)view_at(unknown, path));
  }
  assert_int_equal(checked(unknown, "{\"wire_spread_max\": 0, \"unknown_fails\": true}").outcome,
                   CHECK_INAPPLICABLE);
  json_decref(low);
  json_decref(unknown);
  json_t *none = whole_run((const double[]){1, 1, 1}, 3, 8);
  static const char *const comm[] = {"wire_share_min", "wire_spread_max", "fabric_contention_max",
                                     "fabric_spread_max", "collective_busbw_min"};
  for (int c = 0; c < 10; c++) {
    snprintf(path, sizeof path, "{\"%s\": 0}", comm[c % 5]);
    if (c == 5) put_rank(none, 0, "wire", json_object());
    const struct check check = checked(none, path);
    assert_int_equal(check.outcome, CHECK_INAPPLICABLE);
    assert_string_equal(check.why, c < 5 ? "himeno-gpu does not measure it"
                                         : "uncertain, or no rank is bound to its card");
  }
  json_decref(none);
}

UNIT_MAIN(NULL, NULL)
