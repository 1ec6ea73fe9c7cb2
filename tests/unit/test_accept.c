/* SPDX-License-Identifier: MIT */
/* People write policies and references: any other text must be refused, with a line that says
 * why. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

#include "judge/judge.h"
#include "suite/ranks.h"
#include "tests/unit/capture.h"
#include "tests/unit/run_document.h"

static struct policy good(const char *text)
{
  struct policy policy;
  assert_int_equal(policy_parse(text, strlen(text), "test", &policy), STATUS_OK);
  return policy;
}

/* Half a minute on eight ranks, unless the policy has a check that needs more. */
TEST(a_run_is_planned_so_that_it_can_be_judged)
{
  static const struct {
    const char *policy; /* NULL: none */
    double seconds;
    int soak, ranks, blocks;
    double noise, device, span;
    status_t status;
  } cases[] = {
      {NULL, 30, 0, 8, 1, INFINITY, INFINITY, 0, STATUS_OK},
      {"{\"ecc\": true}", 30, 0, 8, 3, INFINITY, INFINITY, 0, STATUS_OK},
      {"{\"noise_max\": 0.04}", 30, 0, 8, 3, 0.04, INFINITY, 0, STATUS_OK},
      {"{\"efficiency_min\": 0.9}", 30, 0, 8, 3, 0.05, INFINITY, 0, STATUS_OK},
      {"{\"device_spread_max\": 1, \"device_noise_max\": 0.02}", 30, 0, 8, 3, INFINITY, 0.02, 0, STATUS_OK},
      {"{\"stragglers_max\": 0}", 30, 0, 8, 7, INFINITY, INFINITY, 0, STATUS_OK},
      {"{\"stragglers_max\": 0}", 30, 0, 2, 3, INFINITY, INFINITY, 0, STATUS_OK},
      {"{\"episodes_max\": 0}", 10, 0, 8, 3, INFINITY, INFINITY, 10, STATUS_OK},
      {"{\"episodes_max\": 0}", 9.9, 0, 8, 3, INFINITY, INFINITY, 0, STATUS_OK},
      {"{\"gemm_spread_max\": 0}", 30, 1, 8, 3, INFINITY, INFINITY, 0, STATUS_USAGE},
      {"{\"ceiling_share_min\": 0.5}", 30, 1, 8, 3, INFINITY, INFINITY, 0, STATUS_USAGE},
      {"{\"ceiling_share_min\": 0.5, \"ecc\": true}", 30, 1, 8, 3, INFINITY, INFINITY, 0, STATUS_OK}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct judge_limits limits = {.policy_name = cases[c].policy};
    struct judge_plan plan;
    json_t *draft = json_pack("{s{s[iii], sf}}", "config", "procs", cases[c].ranks / 2, 1, 2, "seconds",
                              cases[c].seconds);
    if (cases[c].soak) put(draft, "config.soak", json_real(9));
    if (cases[c].policy) limits.policy = good(cases[c].policy);
    struct capture capture = capture_begin(stderr);
    assert_int_equal(judge_plan(&limits, draft, &plan), cases[c].status);
    free(capture_end(&capture));
    assert_int_equal(plan.blocks_min, cases[c].blocks);
    assert_true(plan.noise_max == cases[c].noise && plan.device_noise_max == cases[c].device);
    assert_true(plan.span_min == cases[c].span);
    json_decref(draft);
  }
}

static double limit(const struct policy *policy, const char *key)
{
  return policy_limit(policy, key);
}

static void refused(const char *text, const char *pattern)
{
  struct policy policy;
  struct capture capture = capture_begin(stderr);
  status_t status = policy_parse(text, strlen(text), "test", &policy);
  char *message = capture_end(&capture);
  assert_int_equal(status, STATUS_USAGE);
  assert_non_null(strstr(message, pattern));
  assert_ptr_equal(strchr(message, '\n'), message + strlen(message) - 1); /* one line */
  free(message);
}

TEST(only_what_is_named_and_not_false_is_checked)
{
  struct policy p =
      good("{\"name\": \"mine\", \"ceiling_share_min\": 0.95, \"ecc\": true, \"binding\": false, "
           "\"devices_per_host\": 8, \"unknown_fails\": false, \"unverified_passes\": true}");
  assert_string_equal(p.name, "mine");
  assert_true(limit(&p, "ceiling_share_min") == 0.95 && limit(&p, "ecc") == 1 && p.throttle_forbidden == 0);
  assert_true(limit(&p, "devices_per_host") == 8 && limit(&p, "unverified_passes") == 1);
  assert_true(limit(&p, "device_gflops_min") < 0 && limit(&p, "binding") < 0 &&
              limit(&p, "unknown_fails") < 0);
  p = good("{\"ecc\": true, \"unverified_passes\": false}");
  assert_true(limit(&p, "unverified_passes") < 0);
  p = good("{\"ecc\": true}");
  assert_true(limit(&p, "unverified_passes") < 0);
  refused("{\"ecc\": true, \"unverified_passes\": 1}", "true or false");
  refused("{\"unverified_passes\": true, \"unknown_fails\": true}", "names nothing to check");
}

TEST(throttle_reasons_are_named)
{
  struct policy p = good("{\"throttled_max\": 0.1, \"throttle_forbidden\": [\"thermal\", \"power_brake\"]}");
  char text[40];
  assert_string_equal(policy_reasons_text(p.throttle_forbidden, text, sizeof text), "thermal, power brake");
  refused("{\"throttle_forbidden\": [\"heat\"]}", "not entry 1");
  refused("{\"throttle_forbidden\": \"thermal\"}", "list");
}

TEST(what_is_no_policy_is_refused)
{
  refused("", "line");
  refused("[1, 2]", "one JSON object");
  refused("{\"ceiling_share_min\": 0.9,}", "line 1");
  refused("{\"ceiling_share\": 0.9}", "no key \"ceiling_share\"");
  refused("{\"ceiling_share_min\": \"0.9\"}", "ceiling_share_min must be a number");
  refused("{\"ceiling_share_min\": -0.1}", "at least 0");
  refused("{\"throttled_max\": 1.5}", "share from 0 to 1");
  refused("{\"devices_per_host\": 7.5}", "whole number");
  refused("{\"ecc\": 1}", "true or false");
  refused("{\"ecc\": true, \"ecc\": false}", "line");
  refused("{\"name\": \"\"}", "name must be");
}

/* Limits of the policies default, h100 and h200; -1: not checked. */
static const struct {
  const char *key;
  double limit[3];
} built_in_limits[] = {
    {"ceiling_share_min", {0.9, 0.9, 0.9}},
    {"theory_share_min", {0.75, 0.85, 0.85}},
    {"device_gflops_min", {-1, -1, 2400}},
    {"device_spread_max", {0.05, 0.03, 0.03}},
    {"device_noise_max", {0.05, 0.02, 0.02}},
    {"exchange_us_ratio_max", {3, 3, 3}},
    {"exchange_gbps_ratio_min", {0.5, 0.5, 0.5}},
    {"stragglers_max", {0, 0, 0}},
    {"episodes_max", {0, 0, 0}},
    {"counted_max", {0, 0, 0}},
    {"nvlink_crc_rate_max", {100, 100, 100}},
    {"gemm_spread_max", {0.05, 0.05, 0.05}},
    {"gemm_power_limited_spread_max", {0.15, 0.15, 0.15}},
    {"devices_unshared", {1, 1, 1}},
    {"ecc", {-1, 1, 1}},
    {"ecc_uncorrected_max", {0, 0, 0}},
    {"pcie_full", {1, 1, 1}},
    {"throttled_max", {0, 0, 0}},
    {"unknown_fails", {-1, 1, 1}},
};

TEST(each_limit_of_a_built_in_policy_is_known_and_names_its_origin)
{
  static const char *const names[] = {"default", "h100", "h200"};
  char text[80];
  for (int n = 0; n < 3; n++) {
    struct policy p;
    assert_int_equal(policy_read(names[n], &p), STATUS_OK);
    assert_string_equal(p.name, names[n]);
    assert_string_equal(policy_reasons_text(p.throttle_forbidden, text, sizeof text),
                        "hardware slowdown, thermal, hardware thermal, power brake");
    for (size_t l = 0; l < sizeof built_in_limits / sizeof *built_in_limits; l++) {
      const int k = check_kind_find(built_in_limits[l].key);
      assert_true(p.limit[k] == built_in_limits[l].limit[n]);
      assert_int_equal(p.from[k][0] != 0, p.limit[k] >= 0);
      p.limit[k] = -1;
    }
    for (int k = 0; k < CHECK_KINDS; k++) assert_true(p.limit[k] < 0); /* none that is not listed */
  }
}

TEST(a_policy_may_name_the_origin_of_a_limit)
{
  struct policy p = good("{\"ecc\": true, \"celsius_max\": 80, \"from\": {\"celsius_max\": \"May\"}}");
  assert_string_equal(p.from[check_kind_find("celsius_max")], "May");
  assert_string_equal(p.from[check_kind_find("ecc")], "");
  refused("{\"ecc\": true, \"from\": \"May\"}", "object whose values are strings");
  refused("{\"ecc\": true, \"from\": {\"heat\": \"May\"}}", "from.heat: there is no such limit");
  refused("{\"ecc\": true, \"from\": {\"ecc\": 5}}", "from.ecc must be a string");
  refused("{\"ecc\": true, \"from\": {\"ecc\": \"a\\nb\"}}", "from.ecc must be a string");
  refused("{\"from\": {\"ecc\": \"May\"}}", "names nothing to check");
}

TEST(a_missing_file_is_of_the_environment)
{
  struct policy p;
  struct capture capture = capture_begin(stderr);
  status_t missing = policy_read("/nonexistent/policy.json", &p), folder = policy_read("/", &p);
  free(capture_end(&capture));
  assert_int_equal(missing, STATUS_ENVIRONMENT);
  assert_int_equal(folder, STATUS_USAGE);
}

TEST(a_check_is_judged_by_its_side_of_the_limit)
{
  struct check floor = {.value = 0.95, .limit = 0.9}, most = {.value = 3, .limit = 2, .at_most = 1};
  struct check exact = {.value = 2, .limit = 2, .at_most = 1}, unknown = {.value = NAN, .limit = 1};
  check_judge(&floor, 0);
  check_judge(&most, 0);
  check_judge(&exact, 0);
  assert_true(floor.outcome == CHECK_PASS && most.outcome == CHECK_FAIL && exact.outcome == CHECK_PASS);
  assert_true(check_margin(&most) == -1);
  check_judge(&unknown, 0);
  assert_int_equal(unknown.outcome, CHECK_UNKNOWN);
  check_judge(&unknown, 1);
  assert_int_equal(unknown.outcome, CHECK_FAIL);
  unknown.outcome = CHECK_INAPPLICABLE;
  check_judge(&unknown, 1);
  assert_int_equal(unknown.outcome, CHECK_INAPPLICABLE);
}

/* ---- references ---- */

#define DOCUMENT(schema, verdict, gflops, samples) RUN(schema, VERDICT(verdict, "known"), gflops, samples)
#define OF(verdict)                                RUN("himeno-gpu/1", verdict, "12.5", "[1, 1, 1]")
#define RUN(schema, verdict, gflops, samples)                                                                \
  "{\"schema\": \"" schema                                                                                   \
  "\", \"config\": {\"imax\": 32, \"jmax\": 32, \"kmax\": 64, \"data\": \"dense\", \"backend\": "            \
  "\"cpu\", \"class\": \"classic\", \"kernel\": \"stream\"}, \"ranks\": [{\"device\": \"A CPU\"}], "         \
  "\"result\": {" verdict ", \"gflops\": " gflops ", \"samples\": " samples "}}"
#define VERDICT(verdict, verified) "\"verdict\": \"" verdict "\", \"verified\": \"" verified "\""

TEST(an_earlier_run_is_read_with_its_noise)
{
  const char *text = DOCUMENT("himeno-gpu/1", "pass", "0.125", "[1.0, 1.1, 0.9, 1.0, 1.05]");
  struct reference r;
  assert_int_equal(reference_parse(text, strlen(text), "test", &r), STATUS_OK);
  assert_true(r.gflops == 0.125 && r.ranks == 1 && view_number(r.document, "config.kmax") == 64);
  assert_true(fabs(r.noise - 1.4826 * 1.62 * 0.1) < 1e-9);
  assert_true(fabs(r.tail - 0.01) < 1e-9); /* mean 1.01, median 1 */
  reference_free(&r);
}

/* An earlier run counts, whatever its speed, if it was verified. */
TEST(what_is_no_earlier_run_is_refused)
{
  static const char *const no_rate = "it has no rate", *const wrong = "that run did not compute right",
                           *const unverified = "the timed part of that run was not verified",
                           *const few = "it has fewer than 3 blocks, so its noise is unknown";
  const struct {
    const char *text, *why;
  } cases[] = {
      {"", "reference test: line 1: "},
      {"{}", "not a result of himeno-gpu or gemm-gpu (schemas "},
      {"[]", "not a result of"},
      {"{\"schema\": 3}", "not a result of"},
      {DOCUMENT("gemm-gpu/1", "pass", "12.5", "[1, 1, 1]"), "its config or ranks are damaged"},
      {DOCUMENT("himeno-gpu/1", "wrong", "12.5", "[1, 1, 1]"), wrong},
      {DOCUMENT("himeno-gpu/1", "partial", "12.5", "[1, 1, 1]"), wrong},
      {DOCUMENT("himeno-gpu/1", "pass", "0", "[1, 1, 1]"), no_rate},
      {DOCUMENT("himeno-gpu/1", "pass", "-12.5", "[1, 1, 1]"), no_rate},
      {DOCUMENT("himeno-gpu/1", "pass", "1e999", "[1, 1, 1]"), "real number overflow"},
      {DOCUMENT("himeno-gpu/1", "pass", "NaN", "[1, 1, 1]"), "invalid token"},
      {DOCUMENT("himeno-gpu/1", "pass", "12.5", "[1, 0, 1]"), few},
      {DOCUMENT("himeno-gpu/1", "pass", "12.5", "[1, NaN, 1]"), "invalid token"},
      {DOCUMENT("himeno-gpu/1", "pass", "null", "[1, 1, 1]"), no_rate},
      {DOCUMENT("himeno-gpu/1", "pass", "12.5", "[1, 1]"), few},
      {OF(VERDICT("pass", "known")), NULL},
      {OF(VERDICT("slow", "reference")), NULL},
      {OF(VERDICT("noisy", "model")), NULL},
      {OF(VERDICT("pass", "no")), unverified},
      {OF(VERDICT("pass", "rehearsal")), unverified},
      {OF(VERDICT("environment", "known")), wrong},
      {OF("\"verdict\": \"pass\""), unverified},
      {DOCUMENT("himeno-gpu/1", "pass", "12.5", "[1, \"two\", 1]"), few},
      {DOCUMENT("himeno-gpu/1", "pass", "12.5", "{}"), few},
  };
  struct reference r;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct capture capture = capture_begin(stderr);
    status_t status = reference_parse(cases[c].text, strlen(cases[c].text), "test", &r);
    char *message = capture_end(&capture);
    assert_int_equal(status, cases[c].why ? STATUS_USAGE : STATUS_OK);
    assert_non_null(strstr(message, cases[c].why ? cases[c].why : ""));
    if (!cases[c].why) reference_free(&r);
    free(message);
  }
}

/* ---- comparing ---- */

static const double steady[] = {1, 1, 1, 1, 1};

/* A run of 1 GFLOPS. */
static struct check compared_with(const struct reference *reference, const double *samples, int n)
{
  const struct judge_run run = {.samples = (double *)samples, .n_samples = n, .gflops = 1};
  struct check check;
  reference_check(NULL, &run, reference, &check);
  return check;
}

/* A slowdown counts beyond 1%, and beyond three standard deviations of both runs. What the noise
 * hides is neither as fast nor slow. One interrupted block accuses no rank. */
TEST(a_slowdown_counts_beyond_the_noise)
{
  static const double varied[] = {0.995, 0.995, 1, 1.005, 1.005}, /* noise at most 0.01201 */
      interrupted[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 13};      /* mean: twice the median */
  static const struct {
    double rate, then; /* rate of the run over that of the earlier one, which had this noise */
    const double *samples;
    int n;
    enum check_outcome outcome;
    double limit;
  } cases[] = {{0.9901, 0, steady, 5, CHECK_PASS, 0.99},
               {0.9899, 0, steady, 5, CHECK_FAIL, 0.99},
               {1.5, 0, steady, 5, CHECK_PASS, 0.99},
               {0.9701, 0.01, steady, 5, CHECK_PASS, 0.97},
               {0.9699, 0.01, steady, 5, CHECK_FAIL, 0.97},
               {0.97, 0.005, varied, 5, CHECK_PASS, 0.960974909369},
               {0.94, 0.005, varied, 5, CHECK_FAIL, 0.960974909369},
               {1, 0.0166, steady, 5, CHECK_PASS, 0.9502},
               {0.96, 0.0168, steady, 5, CHECK_NOISY, 0.9496},
               {0.94, 0.0168, steady, 5, CHECK_FAIL, 0.9496},
               {1.04, 0.03, steady, 5, CHECK_PASS, 0.91},
               {1.039, 0.03, steady, 5, CHECK_NOISY, 0.91},
               {1, 1.3, steady, 5, CHECK_NOISY, 0},
               {0.5, 0, interrupted, 12, CHECK_PASS, 0.99},
               {0.5, 0, interrupted + 8, 4, CHECK_NOISY, 0},
               {0.5, 0, steady, 2, CHECK_UNKNOWN, 0.99},
               {0.5, 0, steady, 3, CHECK_FAIL, 0.99}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const struct reference then = {.gflops = 1 / cases[c].rate, .noise = cases[c].then};
    const struct check check = compared_with(&then, cases[c].samples, cases[c].n);
    assert_string_equal(check_outcome_names[check.outcome], check_outcome_names[cases[c].outcome]);
    assert_true(fabs(check.limit - cases[c].limit) < 1e-9);
  }
  const struct reference slow_tail = {.gflops = 0.5, .tail = 1}; /* of that run, too */
  assert_true(fabs(compared_with(&slow_tail, steady, 5).value - 1) < 1e-9);
}

/* Text of 128 rows. */
static char *printed(void (*print)(const void *, size_t, int, FILE *), const struct rank_row *rows)
{
  struct capture capture = capture_begin(stdout);
  print(rows, sizeof *rows, 128, stdout);
  return capture_end(&capture);
}

static int count_of(const char *text, const char *word)
{
  int n = 0;
  while ((text = strstr(text, word))) n++, text++;
  return n;
}

TEST(warnings_of_ranks_have_no_more_lines_than_the_table)
{
  static struct rank_row rows[128];
  char *clean = printed(ranks_print_sharing, rows);
  assert_string_equal(clean, "");
  for (int r = 0; r < 128; r++)
    rows[r] = (struct rank_row){.shared = 1, .overlap = 1, .host_first = r - r % 2, .host_unused = 3};
  char *text = printed(ranks_print_sharing, rows), *unused = printed(ranks_print_backend, rows);
  assert_int_equal(count_of(text, "\n"), 64 + 2); /* and the rest, and what sharing means */
  assert_non_null(strstr(text, "  ... and 192 more warnings: see --json\n"));
  assert_int_equal(count_of(unused, "3 on "), 8);
  assert_non_null(strstr(unused, "; 192 on 64 hosts in all\n"));
  free(clean);
  free(text);
  free(unused);
}

/* At most so many findings are listed, and lines are broken at 100 columns. */
TEST(a_report_lists_findings_and_checks)
{
  static struct judged j = {
      .asked = 1,
      .verified = 1,
      .verdict = STATUS_SLOW,
      .policy = "site",
      .checks = {9,
                 {{"", "share", "", 0, 0.95, 0.9, 0, CHECK_PASS, 0, "short reason", "May"},
                  {"", "us", "", 0, 100, 99.5, 1, CHECK_FAIL, 0, "longer reason", "May"},
                  {"", "rate", "", 0, 2.5, 250.7, 0, CHECK_NOISY, 0, "", ""},
                  {"", "ECC", "", 1, 0, 1, 0, CHECK_FAIL, 0, "", ""},
                  {"", "own core", "", 1, 1, 1, 0, CHECK_PASS, 0, "", ""},
                  {"", "NVLinks not in use", "", 0, NAN, 16, 0, CHECK_UNKNOWN, 0, "", ""},
                  {"", "links", "", 0, NAN, 18, 0, CHECK_FAIL, 0, "", ""},
                  {"", "rate of the slowest network card / its port's rate", "", 0, 0, 0, 0,
                   CHECK_INAPPLICABLE, 0, "no rank is bound to its card", ""},
                  {"", "bandwidth of the slowest device, as measured", "", 0, 0, 0, 0, CHECK_INAPPLICABLE, 0,
                   "it is a soak: measures no ceilings", ""}}}};
  static const char end[] =
      "\n"
      "  acceptance by policy \"site\"\n"
      "    check                                           value     required    margin  result\n"
      "    share                                          0.9500  >=   0.9000    0.0500  pass: short reason\n"
      "    us                                                100  <=  99.5000   -0.5000  FAIL:\n"
      "      longer reason\n"
      "      limit from: May\n"
      "    rate                                           2.5000  >=      251      -248  noisy\n"
      "    ECC                                                no          yes            FAIL\n"
      "    own core                                          yes          yes            pass\n"
      "    NVLinks not in use                                  –  >=       16            unknown\n"
      "    links                                               –  >=       18            FAIL, unknown\n"
      "    rate of the slowest network card / its port's rate  does not apply: no rank is bound to its card\n"
      "    bandwidth of the slowest device, as measured   does not apply:\n"
      "      it is a soak: measures no ceilings\n"
      "  NOT ACCEPTED: 3 of 9 checks failed; 3 not checked (1 unknown, 2 do not apply): NVLinks not in use;\n"
      "    rate of the slowest network card / its port's rate;\n"
      "    bandwidth of the slowest device, as measured\n";
  json_t *run = whole_run((const double[]){1, 1, 1}, 3, 70);
  put_rank(run, -1, "counted.corrected", json_integer(3));
  j.run = viewed(run);
  j.run.n_stragglers = j.run.n_slowdowns = 70;
  for (int f = 0; f < JUDGE_FOUND_MAX; f++) j.run.stragglers[f].rank = j.run.slowdowns[f].rank = f;
  struct capture capture = capture_begin(stdout);
  judged_text(&j, stdout);
  judged_headline(&j, stdout);
  char *text = capture_end(&capture);
  static const struct {
    const char *line, *rest;
    int n;
  } lists[] = {{"  STRAGGLER ", "  ... and 6 more stragglers\n", 64},
               {"  SLOW ONCE ", "  ... and slow 60 times more: see --json\n", 10},
               {"  ERRORS ", "  ... and 6 more ranks: --json has them all\n", 64}};
  for (int l = 0; l < 3; l++) {
    assert_int_equal(count_of(text, lists[l].line), lists[l].n);
    assert_int_equal(count_of(text, lists[l].rest), 1);
  }
  assert_string_equal(strstr(text, "\n\n") + 1, end);
  assert_int_equal(judged_json(&j, run), STATUS_OK);
  assert_int_equal(json_array_size(json_object_get(run, "stragglers")), 64);
  assert_int_equal(json_array_size(json_object_get(run, "episodes")), 64);
  json_object_del(run, "result");
  assert_int_equal(judged_json(&j, run), STATUS_ENVIRONMENT);
  free(text);
  judge_run_free(&j.run);
  j = (struct judged){.asked = 1,
                      .verified = 1,
                      .compared = 1,
                      .checks = {2,
                                 {{"", "rate", "", 0, 1, 1, 0, CHECK_PASS, 0, "", "May"},
                                  {"", "links", "", 0, NAN, 1, 0, CHECK_INAPPLICABLE, 0, "", "May"}}}};
  capture = capture_begin(stdout);
  judged_text(&j, stdout);
  judged_headline(&j, stdout);
  text = capture_end(&capture);
  assert_string_equal(
      text, "\n"
            "  acceptance by comparison with the earlier run\n"
            "    check                                           value     required    margin  result\n"
            "    rate                                                1  >=        1         0  pass\n"
            "    links                                          does not apply\n"
            "  ACCEPTED: 1 of 2 checks passed; 1 not checked: links\n");
  free(text);
  json_decref(run);
}

UNIT_MAIN(NULL, NULL)
