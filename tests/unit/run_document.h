/* SPDX-License-Identifier: MIT */
/** \file \brief Makes documents of runs, and judges them. */
#ifndef TESTS_UNIT_RUN_DOCUMENT_H
#define TESTS_UNIT_RUN_DOCUMENT_H

#include "judge/judge.h"

#define UNUSED __attribute__((unused))

/** \brief Sets the value at a path such as "ranks.2.telemetry.ecc.on"; missing objects on
 * the path are created. */
static UNUSED void put(json_t *at, const char *path, json_t *value)
{
  char key[64];
  for (;;) {
    const size_t n = strcspn(path, ".");
    snprintf(key, sizeof key, "%.*s", (int)n, path);
    path += n;
    if (json_is_array(at)) {
      json_t *next = json_array_get(at, (size_t)atoi(key));
      assert_non_null(next);
      at = next;
    } else if (!*path) {
      json_object_set_new(at, key, value);
      return;
    } else {
      if (!json_object_get(at, key)) json_object_set_new(at, key, json_object());
      at = json_object_get(at, key);
    }
    path++;
  }
}

/** \brief Sets the value in the row of \a rank, or in all rows if \a rank is −1. */
static UNUSED void put_rank(json_t *document, int rank, const char *path, json_t *value)
{
  json_t *ranks = json_object_get(document, "ranks"), *row;
  size_t r;
  json_array_foreach(ranks, r, row) if (rank < 0 || (size_t)rank == r) put(row, path, json_incref(value));
  json_decref(value);
}

/** \brief Returns a run of 3.6 GFLOPS. The first rank has 1.02 GFLOPS and share of the ceiling, the
 * last 0.95, others 1. Blocks took \a samples; in the series they are equal. */
static UNUSED json_t *whole_run(const double *samples, int n, int ranks)
{
  json_t *document = json_pack("{ss, s{}, s{ss, sf, s[]}, s[], s[]}", "program", "himeno-gpu", "config",
                               "result", "verified", "known", "gflops", 3.6, "samples", "paths", "ranks");
  json_t *series = json_pack("{s[], s[], s[], s[]}", "ends", "blocks", "compute", "exchange");
  assert_non_null(document);
  for (int b = 0; b < n; b++) {
    json_array_append_new((json_t *)view_at(document, "result.samples"), json_real(samples[b]));
    json_array_append_new(json_object_get(series, "ends"), json_real(b + 1));
    json_array_append_new(json_object_get(series, "blocks"), json_integer(b));
  }
  for (int r = 0; r < ranks; r++) {
    const double gflops = r == 0 ? 1.02 : r == ranks - 1 ? 0.95 : 1;
    json_t *times = json_array();
    for (int b = 0; b < n; b++) json_array_append_new(times, json_real(1));
    json_array_append(json_object_get(series, "compute"), times);
    json_array_append_new(json_object_get(series, "exchange"), times);
    json_array_append_new(json_object_get(document, "ranks"),
                          json_pack("{ss, si, si, sb, sb, sb, sf, sf, sf, sf}", "host", "n1", "host_first", 0,
                                    "device_sharers", 0, "device_shared", 0, "cpus_shared", 0, "is_cpu", 0,
                                    "points", 1.0, "noise", 0.0, "compute_gflops", gflops, "ceiling_share",
                                    gflops));
  }
  json_object_set_new(document, "series", series);
  return document;
}

/** Returns a run of five ranks with the rates of all pairs, alone and all at once. Rank 2 is slow
 * with all others. Rank 4 is on another host: its pairs have an eighth of the other rates. */
static UNUSED json_t *run_with_pairs(void)
{
  json_t *run = whole_run((const double[]){1, 1, 1}, 3, 5), *pairs = json_array();
  json_object_set_new(json_array_get(json_object_get(run, "ranks"), 4), "host_first", json_integer(4));
  for (int a = 0; a < 5; a++)
    for (int b = a + 1; b < 5; b++)
      for (int all = 0; all < 2; all++) {
        const double gbps = (a == 2 || b == 2 ? 60.0 : 200.0) / (all ? 4 : 1) / (b == 4 ? 8 : 1);
        json_array_append_new(pairs,
                              json_pack("{si, si, ss, ss, s[{sf}]}", "rank", a, "peer", b, "used", "p2p",
                                        "company", all ? "all" : "alone", "points", "gbps", gbps));
      }
  json_object_set_new(run, "pairs", pairs);
  return run;
}

/** Time and rate of a rank's path to another rank. */
struct exchange {
  double seconds, gbps;
};

static UNUSED void path_add(json_t *document, int rank, int peer, struct exchange exchange)
{
  json_array_append_new(json_object_get(document, "paths"),
                        json_pack("{si, si, ss, sf, ss, sf, sf}", "rank", rank, "peer", peer, "face",
                                  peer > rank ? "i+" : "i-", "bytes", 4.0, "used", "p2p", "latency",
                                  exchange.seconds, "gbps", exchange.gbps));
}

static UNUSED struct judge_run viewed(const json_t *document)
{
  struct judge_run run;
  assert_int_equal(judge_view(document, "test", &run), STATUS_OK);
  return run;
}

/** \brief Applies a policy's checks, stores them in *all unless it is NULL; returns the last
 * one. */
static UNUSED struct check run_checked(struct judge_run *run, const char *policy, struct checks *all)
{
  static struct policy read;
  static struct checks checks;
  assert_int_equal(policy_parse(policy, strlen(policy), "test", &read), STATUS_OK);
  checks.n = 0;
  checks_of_policy(run, &read, &checks);
  if (all) *all = checks;
  return checks.check[checks.n - 1];
}

static UNUSED struct check checked(const json_t *document, const char *policy)
{
  struct judge_run run = viewed(document);
  const struct check check = run_checked(&run, policy, NULL);
  judge_run_free(&run);
  return check;
}

#endif
