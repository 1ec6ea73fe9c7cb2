/* SPDX-License-Identifier: MIT */
/* Records of the devices' values: of every block while there is space, after that the worst of
 * neighbouring blocks. */
#include "tests/unit/unit.h"

#include <math.h>

#include "base/stats.h"
#include "himeno/result/record.h"
#include "himeno/report/report.h"
#include "himeno/result/ranks.h"

static struct telemetry_sample cool(void)
{
  return (struct telemetry_sample){300, 1980, 2619, 55, 0};
}

TEST(each_block_has_its_row_until_the_table_is_full)
{
  static struct series s;
  series_open(&s, 1);
  for (int b = 0; b < SERIES_ROWS_MAX; b++) {
    struct telemetry_sample sample = cool();
    sample.celsius = b;
    series_add(&s, &sample);
  }
  assert_true(s.each == 1 && series_rows(&s) == SERIES_ROWS_MAX);
  for (int b = 0; b < SERIES_ROWS_MAX; b++) assert_int_equal(s.rows[b].celsius, b);
}

TEST(a_hot_block_among_a_million_is_in_its_row)
{
  static struct series s;
  const struct telemetry_sample hot = {700, 1200, 0, 91, THROTTLE_THERMAL};
  const int blocks = 1000000, at = 54321;
  int hot_rows = 0;
  series_open(&s, 1);
  for (int b = 0; b < blocks; b++) {
    struct telemetry_sample sample = cool();
    series_add(&s, b == at ? &hot : &sample);
  }
  assert_true(s.each == 1024 && series_rows(&s) == (blocks + 1023) / 1024);
  for (int r = 0; r < series_rows(&s); r++) hot_rows += s.rows[r].celsius == 91;
  const struct telemetry_sample *row = &s.rows[at / s.each];
  assert_int_equal(hot_rows, 1);
  assert_true(row->celsius == 91 && row->watts == 700 && row->sm_mhz == 1200 && row->memory_mhz == 0 &&
              row->throttle == THROTTLE_THERMAL);
}

TEST(many_ranks_have_fewer_rows_each)
{
  static const int ranks[] = {1, 16, 17, 100, 100000}, most[] = {1024, 1024, 962, 162, 8};
  static struct series s;
  for (int n = 0; n < 5; n++) {
    series_open(&s, ranks[n]);
    assert_int_equal(s.most, most[n]);
  }
}

TEST(unknown_values_are_not_the_least)
{
  const struct telemetry_sample none = {-1, -1, -1, -1, -1};
  struct telemetry_sample worst = none, sample = cool();
  series_worst(&worst, &sample);
  assert_true(worst.sm_mhz == 1980 && worst.celsius == 55 && worst.throttle == 0);
  series_worst(&worst, &none);
  assert_true(worst.memory_mhz == 2619 && worst.watts == 300 && worst.throttle == 0);
  const struct record_telemetry fallen = {.before.corrected = 5, .after.corrected = 2};
  assert_int_equal(record_rise(&fallen, FACT_CORRECTED), 0);
}

/* ---- changes ---- */

static struct record *record_at(const char *readings, const char *sysfs)
{
  const struct placement placement = {
      .ranks = 1, .backend = gpu_backend_find("null"), .info = {.pci = "0000:12:00.0"}};
  char library[600];
  const char *built = getenv("top_builddir");
  struct record *r;
  snprintf(library, sizeof library, "%s/tests/unit/fake_nvml.so", built ? built : ".");
  setenv("HIMENO_NVML", library, 1);
  setenv("HIMENO_SYSFS", sysfs, 1);
  setenv("FAKE_NVML", readings, 1);
  assert_int_equal(record_open(&placement, &r), STATUS_OK);
  return r;
}

static struct record *record_of(const char *readings)
{
  return record_at(readings, "/nonexistent");
}

static void blocks_pass(struct record *r, int n)
{
  const struct solver_block block = {.sweeps = 1};
  for (int b = 0; b < n; b++) {
    double begin = stats_now();
    while (stats_now() - begin < 40 * r->read_seconds) {
    }
    assert_int_equal(record_add(r, &block), STATUS_OK);
  }
}

TEST(a_change_is_kept_with_its_block_and_both_values)
{
  struct record *r = record_of("fixed=2 width=16");
  const struct record_change *c = r->changes;
  blocks_pass(r, 3);
  assert_int_equal(r->telemetry.n_changes, 0);
  setenv("FAKE_NVML", "fixed=5 width=8", 1);
  blocks_pass(r, 2);
  record_finish(r);
  assert_int_equal(r->telemetry.n_changes, 2);
  assert_true(c[0].of == FACT_CORRECTED && c[0].from == 2 && c[0].to == 5 && c[0].block == 3);
  assert_true(c[1].of == FACT_PCIE_WIDTH && c[1].from == 16 && c[1].to == 8 && c[1].block == 3);
  assert_true(r->telemetry.before.corrected == 2 && r->telemetry.after.corrected == 5);
  record_close(r);
}

TEST(changes_beyond_the_list_are_counted)
{
  struct record *r = record_of("rows=0");
  char readings[16];
  for (int n = 1; n <= 2 * RECORD_CHANGES_MAX; n++) {
    snprintf(readings, sizeof readings, "rows=%d", n);
    setenv("FAKE_NVML", readings, 1);
    record_finish(r);
  }
  assert_int_equal(r->telemetry.n_changes, 2 * RECORD_CHANGES_MAX);
  assert_true(r->changes[RECORD_CHANGES_MAX - 1].to == RECORD_CHANGES_MAX && r->changes[0].block == 0);
  record_close(r);
}

/* Blocks that are shorter than a read of the device must not be slowed. Changes are found at the
 * end. */
TEST(short_blocks_are_not_all_recorded)
{
  struct record *r = record_of("fixed=0");
  const struct solver_block block = {.sweeps = 1};
  r->read_seconds = 3600;
  setenv("FAKE_NVML", "fixed=1", 1);
  for (int b = 0; b < 100; b++) assert_int_equal(record_add(r, &block), STATUS_OK);
  assert_int_equal(r->telemetry.n_changes, 0);
  record_finish(r);
  assert_int_equal(r->telemetry.n_changes, 1);
  assert_int_equal(r->changes[0].block, 99);
  assert_int_equal(r->telemetry.rows, 100);
  record_close(r);
}

/* ---- counters ---- */

TEST(each_counter_rises_alone)
{
  static const char *const words[TELEMETRY_COUNTERS] = {
      "fixed", "broken", "rows", "resent", "link_replays", "link_recoveries", "link_data", "xid", NULL};
  for (int raised = 0; raised < TELEMETRY_COUNTERS && words[raised]; raised++) {
    char readings[80];
    struct record *r = record_of("fixed=2 broken=2 rows=2 resent=2 link_data=2");
    snprintf(readings, sizeof readings, "%s=9 fixed=2 broken=2 rows=2 resent=2 link_data=2", words[raised]);
    setenv("FAKE_NVML", readings, 1);
    record_finish(r);
    for (int c = 0; c < TELEMETRY_COUNTERS - 1; c++) {
      const int64_t rise = c != raised ? 0 : c == FACT_XIDS ? 1 : strstr(readings + 1, words[c]) ? 7 : 9;
      assert_int_equal(record_rise(&r->telemetry, (enum telemetry_fact)c), rise);
    }
    assert_int_equal(record_rise(&r->telemetry, FACT_CARD_ERRORS), TELEMETRY_UNKNOWN);
    assert_true(r->telemetry.n_changes == 1 && (int)r->changes[0].of == raised);
    record_close(r);
  }
}

/* Simulates that this much time of the run has passed. */
static void seconds_pass(struct record *r, double seconds)
{
  r->before_last.when -= seconds;
  r->last.when -= seconds;
  blocks_pass(r, 1);
}

static int is_rate(struct record *r, double rate)
{
  return fabs(r->telemetry.crc_rate / rate - 1) < 0.01;
}

/* 50 errors per second, except in one minute with 200, which has half of the run's errors. */
TEST(crc_errors_of_hours_are_rated_by_the_worst_minute)
{
  struct record *r = record_of("link_flits=7000");
  setenv("FAKE_NVML", "link_flits=10000", 1);
  seconds_pass(r, 60);
  assert_true(is_rate(r, 50));
  setenv("FAKE_NVML", "link_flits=22000", 1);
  seconds_pass(r, 60);
  setenv("FAKE_NVML", "link_flits=28000", 1);
  seconds_pass(r, 120);
  record_finish(r);
  assert_true(is_rate(r, 200));
  assert_int_equal(record_rise(&r->telemetry, FACT_NVLINK_CRC), 21000);
  record_close(r);
}

/* Ten seconds count as a minute. Of 70 s, the last ten count with the minute before them. */
TEST(crc_errors_of_seconds_are_rated_per_minute)
{
  struct record *r = record_of("link_data=7000");
  setenv("FAKE_NVML", "link_data=9400", 1);
  seconds_pass(r, 10);
  assert_true(r->telemetry.crc_rate < 0);
  record_finish(r);
  assert_true(is_rate(r, 40));
  record_close(r);
  r = record_of("link_data=7000");
  seconds_pass(r, 60);
  setenv("FAKE_NVML", "link_data=9100", 1);
  seconds_pass(r, 10);
  record_finish(r);
  assert_true(is_rate(r, 30));
  record_close(r);
  r = record_of("links=0"); /* cannot be read */
  record_finish(r);
  assert_true(r->telemetry.crc_rate == TELEMETRY_UNKNOWN);
  record_close(r);
}

TEST(a_card_that_counts_errors_is_named)
{
  char folder[] = "/tmp/record-XXXXXX", command[600];
  const char *source = getenv("top_srcdir");
  assert_non_null(mkdtemp(folder));
  snprintf(command, sizeof command, "%s/tests/topo/unfold-sysfs %s/tests/topo/four-gpus-two-cards.sysfs %s",
           source, source, folder);
  assert_int_equal(system(command), 0);
  struct record *r = record_at("", folder);
  assert_int_equal(r->telemetry.before.card_errors, 0);
  snprintf(command, sizeof command,
           "cd %s/class && echo 7 >infiniband/mlx5_0/ports/1/counters/symbol_error && "
           "echo 6 >net/eno1/statistics/tx_dropped",
           folder);
  assert_int_equal(system(command), 0);
  record_finish(r);
  record_finish(r);
  assert_int_equal(record_rise(&r->telemetry, FACT_CARD_ERRORS), 5);
  assert_string_equal(r->changes[0].detail, "mlx5_0/1");
  assert_int_equal(r->telemetry.n_changes, 1);
  record_close(r);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

/* ---- times ---- */

TEST(exchange_is_all_but_computing_waiting_and_reducing)
{
  struct record *r = record_of("");
  struct solver_block block = {.sweeps = 1};
  for (int p = 0; p < HIMENO_PHASES; p++) block.phases[p] = 1 << p;
  assert_int_equal(record_add(r, &block), STATUS_OK);
  assert_true(r->blocks[0].compute == (1 << PHASE_INTERIOR) + (1 << PHASE_BOUNDARY));
  assert_true(r->blocks[0].exchange == (1 << PHASE_PACK) + (1 << PHASE_D2H) + (1 << PHASE_TRANSFER) +
                                           (1 << PHASE_H2D) + (1 << PHASE_UNPACK));
  record_close(r);
}

TEST(of_more_blocks_than_fit_those_kept_are_spread_over_all)
{
  struct record *r = record_of("");
  for (int b = 1; b <= 5 * RECORDS_MAX; b++) {
    const struct solver_block block = {.sweeps = 1, .phases = {[PHASE_INTERIOR] = b}};
    assert_int_equal(record_add(r, &block), STATUS_OK);
  }
  assert_int_equal(r->stride, 8);
  assert_int_equal(r->n, 5 * RECORDS_MAX / 8);
  for (int b = 1; b < r->n; b++) {
    double gap = r->blocks[b].compute - r->blocks[b - 1].compute;
    assert_true(gap >= 1 && gap <= 8 && r->when[b].block + 1 == (int)r->blocks[b].compute);
  }
  record_close(r);
}

TEST(each_reason_of_a_throttled_block_counts)
{
  struct record *r = record_of("throttle=96");
  const struct solver_block block = {.sweeps = 1};
  for (int b = 0; b < 3; b++) assert_int_equal(record_add(r, &block), STATUS_OK);
  setenv("FAKE_NVML", "throttle=32", 1);
  assert_int_equal(record_add(r, &block), STATUS_OK);
  setenv("FAKE_NVML", "throttle=0", 1);
  assert_int_equal(record_add(r, &block), STATUS_OK);
  assert_true(r->telemetry.samples == 5 && r->telemetry.throttled == 4);
  for (int b = 0; b < THROTTLE_BITS; b++)
    assert_int_equal(r->telemetry.by_reason[b], 1 << b == THROTTLE_THERMAL            ? 4
                                                : 1 << b == THROTTLE_HARDWARE_THERMAL ? 3
                                                                                      : 0);
  assert_int_equal(record_reasons(&r->telemetry), THROTTLE_THERMAL | THROTTLE_HARDWARE_THERMAL);
  record_close(r);
}

/* A hundred bytes are sent, and the device's counters show by which path. */
TEST(the_path_of_bytes_follows_from_counters)
{
  static const struct {
    const char *used, *handover;
    int64_t nvlink, pcie;
    int nvlinks;
    enum path_medium medium;
  } cases[] = {
      {"p2p", "", 101, 3, 18, MEDIUM_NVLINK},    {"p2p", "", 90, 100, 18, MEDIUM_NVLINK},
      {"nccl", "", 89, 90, 1, MEDIUM_DISGUISED}, {"nccl", "", 89, 89, 18, MEDIUM_UNKNOWN},
      {"ipc", "", -1, 104, 0, MEDIUM_PCIE},      {"p2p", "", -1, 104, -1, MEDIUM_PCIE},
      {"p2p", "", -1, -1, 18, MEDIUM_UNKNOWN},   {"staged", "shared memory", 0, 104, 18, MEDIUM_HOST},
      {"pageable", "", 0, 104, 18, MEDIUM_HOST}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct himeno_rank rank[2] = {{.row.host = "n1"}, {.row.host = "n1", .n_paths = 1}};
    struct himeno_ranks ranks = {.n = 2, .rank = rank};
    struct himeno_path *path = &rank[1].paths[0];
    path->probe = (struct path_probe){1e-6, 1e9, 100, {cases[c].nvlink, cases[c].pcie}, cases[c].nvlinks};
    struct path_texts texts = {0};
    strcpy(texts.used, cases[c].used);
    strcpy(texts.handover, cases[c].handover);
    path->texts = &texts;
    himeno_media_find(&ranks);
    assert_int_equal(path->medium, cases[c].medium);
    rank[0].row.host_first = 1;
    himeno_media_find(&ranks);
    assert_int_equal(path->medium, MEDIUM_UNKNOWN);
    rank[0].row.host_first = 0;
    path->probe.sent = 0;
    himeno_media_find(&ranks);
    assert_int_equal(path->medium, MEDIUM_UNKNOWN);
  }
}

TEST(waits_are_subtracted_down_to_the_ceiling)
{
  struct himeno_rank rank = {.points = 1000, .row.info.is_cpu = 1, .ceiling_noise = 9};
  const struct stats_summary at = {.n = 3, .median = 1}, above = {.n = 3, .median = 1.5};
  assert_true(himeno_own_seconds(&rank, 3, 1) == 3);
  rank.ceiling = 1000 * HIMENO_BYTES_PER_POINT; /* a sweep takes 1 s */
  assert_true(himeno_own_seconds(&rank, 3, 1) == 2 && himeno_own_seconds(&rank, 3, 2.5) == 1);
  assert_true(himeno_own_seconds(&rank, 0.5, 0.25) == 0.5);
  assert_true(himeno_own_noise(&rank, &at) == 9 && himeno_own_noise(&rank, &above) < 9);
}

#define RATE "  energy     7.0000 J per sweep, 9.71 GFLOPS/W, 2 devices (board)\n             "
/* Of two ranks, rank 0 swept for 10 of 20 s, with 100 W in the pauses and 4000 J in total. */
TEST(energy_is_printed_or_why_it_is_unknown)
{
  static const struct {
    struct energy e;
    const char *text;
  } rank1[] = {
      {{"board", 20, 4000, 0, 5, 100, 10, 1000}, "  energy     unknown: ranks share devices\n"},
      {{"", 20, 4000, 0, 5, 100, 10, 1000}, "  energy     unknown: not every device has a counter\n"},
      {{"board", 9.5, 4000, 0, 5, 100, 9, 1000}, "  energy     unknown: too short: 9.5 s of 10\n"},
      {{"board", 20, 4000, 0, -1, 100, 10, 1000}, "  energy     unknown: too short\n"},
      {{"board", 20, 4000, 0, 5, 100, 9.9, 1000}, "  energy     unknown: mostly pauses\n"},
      {{"board", 20, 1000, 0, 5, 100, 10, 1000}, "  energy     unknown: a counter went back\n"},
      {{"board", 20, 4000, 0, 5, -1, 10, 1000}, RATE "includes the time between blocks\n"},
      {{"board", 10, 4000, 0, 0, 0, 5, 1000},
       RATE "an idle power of 100.0 W is subtracted for the time between blocks\n"},
  };
  struct himeno_rank rank[2] = {{.points = 1000000000, .energy = rank1[0].e}};
  char text[256];
  for (size_t c = 0; c < sizeof rank1 / sizeof *rank1; c++) {
    FILE *out = fmemopen(text, sizeof text, "w");
    rank[1] = (struct himeno_rank){.points = 1000000000, .energy = rank1[c].e, .row.shared = c == 0};
    himeno_energy_text(&(struct himeno_ranks){.n = 2, .rank = rank}, out);
    fclose(out);
    assert_string_equal(text, rank1[c].text);
  }
}

UNIT_MAIN(NULL, NULL)
