/* SPDX-License-Identifier: MIT */
/* Policies and references come from people: whatever is no such thing is refused with a line that says why. */
#include "tests/unit/unit.h"

#include <math.h>

#include "himeno/accept/accept.h"
#include "himeno/accept/reference.h"
#include "tests/unit/capture.h"

static struct accept_policy good(const char *text)
{
  struct accept_policy policy;
  assert_int_equal(policy_parse(text, strlen(text), "test", &policy), STATUS_OK);
  return policy;
}

static void refused(const char *text, const char *pattern)
{
  struct accept_policy policy;
  struct capture capture = capture_begin(stderr);
  status_t status = policy_parse(text, strlen(text), "test", &policy);
  char *said = capture_end(&capture);
  assert_int_equal(status, STATUS_USAGE);
  assert_non_null(strstr(said, pattern));
  assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1); /* one line */
  free(said);
}

static void only_what_is_named_is_checked(void **state)
{
  struct accept_policy p =
      good("{\"name\": \"mine\", \"ceiling_share_min\": 0.95, \"ecc\": true, \"devices_per_host\": 8}");
  (void)state;
  assert_string_equal(p.name, "mine");
  assert_true(p.ceiling_share_min == 0.95 && p.ecc == 1 && p.devices_per_host == 8);
  assert_true(p.device_gflops_min < 0 && p.celsius_max < 0 && p.binding < 0 && p.throttle_forbidden == 0);
}

static void what_is_false_is_not_checked(void **state)
{
  struct accept_policy p =
      good("{\"ecc\": false, \"binding\": false, \"pcie_full\": true, \"unknown_fails\": false}");
  (void)state;
  assert_true(p.ecc < 0 && p.binding < 0 && p.pcie_full == 1 && p.unknown_fails <= 0);
}

static void throttle_reasons_are_named(void **state)
{
  struct accept_policy p =
      good("{\"throttled_max\": 0.1, \"throttle_forbidden\": [\"thermal\", \"power_brake\"]}");
  (void)state;
  assert_int_equal(p.throttle_forbidden, 0x20 | 0x80);
  refused("{\"throttle_forbidden\": [\"heat\"]}", "not entry 1");
  refused("{\"throttle_forbidden\": \"thermal\"}", "list");
}

static void what_is_no_policy_is_refused(void **state)
{
  (void)state;
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

static void the_built_in_policies_are_policies(void **state)
{
  struct accept_policy p;
  (void)state;
  assert_int_equal(policy_read("default", &p), STATUS_OK);
  assert_string_equal(p.name, "default");
  assert_int_equal(policy_read("h100", &p), STATUS_OK);
  assert_true(p.device_gflops_min > 1000 && p.unknown_fails == 1);
  double h100 = p.device_gflops_min;
  assert_int_equal(policy_read("h200", &p), STATUS_OK);
  assert_true(p.device_gflops_min > h100 && p.unknown_fails == 1);
}

static void a_missing_file_is_of_the_environment(void **state)
{
  struct accept_policy p;
  struct capture capture = capture_begin(stderr);
  (void)state;
  status_t missing = policy_read("/nonexistent/policy.json", &p), folder = policy_read("/", &p);
  free(capture_end(&capture));
  assert_int_equal(missing, STATUS_ENVIRONMENT);
  assert_int_equal(folder, STATUS_USAGE);
}

static void a_check_is_judged_by_its_side_of_the_limit(void **state)
{
  struct check floor = {.value = 0.95, .limit = 0.9}, most = {.value = 3, .limit = 2, .at_most = 1};
  struct check exact = {.value = 2, .limit = 2, .at_most = 1}, unknown = {.value = NAN, .limit = 1};
  (void)state;
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

#define DOCUMENT(schema, verdict, gflops, samples)                                                           \
  "{\"schema\": \"" schema                                                                                   \
  "\", \"config\": {\"imax\": 32, \"jmax\": 32, \"kmax\": 64, \"data\": \"dense\", \"backend\": "            \
  "\"cpu\", \"class\": \"classic\", \"kernel\": \"stream\"}, \"ranks\": [{\"device\": \"A CPU\"}], "         \
  "\"result\": "                                                                                             \
  "{\"verdict\": \"" verdict "\", \"gflops\": " gflops ", \"samples\": " samples "}}"

static void an_earlier_run_is_read_with_its_noise(void **state)
{
  const char *text = DOCUMENT("himeno-gpu/1", "pass", "12.5", "[1.0, 1.1, 0.9, 1.0, 1.05]");
  struct reference r;
  (void)state;
  assert_int_equal(reference_parse(text, strlen(text), "test", &r), STATUS_OK);
  assert_true(r.gflops == 12.5 && r.ranks == 1 && r.global[2] == 64);
  assert_true(fabs(r.noise - 1.4826 * 0.05) < 1e-9);
}

static void what_is_no_earlier_run_is_refused(void **state)
{
  static const char *const texts[] = {
      "",
      "{}",
      "[]",
      "{\"schema\": 3}",
      DOCUMENT("gemm-gpu/1", "pass", "12.5", "[1, 1, 1]"),
      DOCUMENT("himeno-gpu/1", "wrong", "12.5", "[1, 1, 1]"),
      DOCUMENT("himeno-gpu/1", "pass", "null", "[1, 1, 1]"),
      DOCUMENT("himeno-gpu/1", "pass", "12.5", "[1, 1]"),
      DOCUMENT("himeno-gpu/1", "pass", "12.5", "[1, \"two\", 1]"),
      DOCUMENT("himeno-gpu/1", "pass", "12.5", "{}"),
  };
  struct reference r;
  (void)state;
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
    struct capture capture = capture_begin(stderr);
    status_t status = reference_parse(texts[t], strlen(texts[t]), "test", &r);
    free(capture_end(&capture));
    assert_int_equal(status, STATUS_USAGE);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_what_is_named_is_checked),
      cmocka_unit_test(what_is_false_is_not_checked),
      cmocka_unit_test(throttle_reasons_are_named),
      cmocka_unit_test(what_is_no_policy_is_refused),
      cmocka_unit_test(the_built_in_policies_are_policies),
      cmocka_unit_test(a_missing_file_is_of_the_environment),
      cmocka_unit_test(a_check_is_judged_by_its_side_of_the_limit),
      cmocka_unit_test(an_earlier_run_is_read_with_its_noise),
      cmocka_unit_test(what_is_no_earlier_run_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
