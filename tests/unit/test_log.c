/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "base/log.h"
#include "tests/unit/capture.h"

static struct capture errors;

static int reset(void **state)
{
  (void)state;
  log_drop();
  log_hold(0);
  log_set_program("prog");
  log_set_rank(-1, NULL);
  log_set_device(NULL);
  errors = capture_begin(stderr);
  return 0;
}

/** Compares the printed text with \a expected. */
static void assert_printed(const char *expected)
{
  char *text = capture_end(&errors);
  assert_string_equal(text, expected);
  free(text);
  errors = capture_begin(stderr);
}

static int give_back(void **state)
{
  (void)state;
  free(capture_end(&errors));
  return 0;
}

static void a_failure_is_one_line_and_its_status_is_passed_up(void **state)
{
  (void)state;
  assert_int_equal(log_fail(STATUS_ENVIRONMENT, "no %s", "memory"), STATUS_ENVIRONMENT);
  assert_printed("prog: no memory\n");
}

static void a_failure_names_rank_host_and_device_as_far_as_known(void **state)
{
  (void)state;
  log_set_rank(3, "n01");
  log_fail(STATUS_FAULT, "lost");
  log_set_device("GPU-0a1b");
  log_fail(STATUS_FAULT, "lost");
  assert_printed("prog: rank 3, host n01: lost\nprog: rank 3, host n01, device GPU-0a1b: lost\n");
  assert_string_equal(log_identity(), "rank 3, host n01, device GPU-0a1b");
}

static void a_single_process_has_no_rank(void **state)
{
  (void)state;
  assert_string_equal(log_identity(), "");
}

static void held_errors_are_kept_and_not_printed(void **state)
{
  (void)state;
  log_hold(1);
  log_fail(STATUS_USAGE, "first");
  log_fail(STATUS_USAGE, "second");
  assert_string_equal(log_held(), "first\nsecond");
  assert_printed("");
}

static void held_errors_are_printed_once_when_no_longer_held(void **state)
{
  (void)state;
  log_set_rank(1, "n01");
  log_hold(1);
  log_fail(STATUS_USAGE, "first");
  log_fail(STATUS_USAGE, "second");
  log_hold(0);
  log_hold(0);
  assert_string_equal(log_held(), "");
  assert_printed("prog: rank 1, host n01: first\nprog: rank 1, host n01: second\n");
}

static void a_held_error_of_one_rank_alone_is_known_until_it_is_dropped(void **state)
{
  (void)state;
  log_hold(1);
  log_fail(STATUS_USAGE, "of all");
  assert_int_equal(log_held_local(), 0);
  log_fail_local(STATUS_ENVIRONMENT, "of this one");
  assert_int_equal(log_held_local(), 1);
  log_drop();
  assert_int_equal(log_held_local(), 0);
}

static void dropped_errors_are_gone_and_holding_goes_on(void **state)
{
  (void)state;
  log_hold(1);
  log_fail(STATUS_USAGE, "first");
  log_drop();
  assert_string_equal(log_held(), "");
  log_fail(STATUS_USAGE, "second");
  assert_string_equal(log_held(), "second");
  log_drop();
}

static void a_flood_of_held_errors_keeps_the_first(void **state)
{
  (void)state;
  log_hold(1);
  for (int i = 0; i < 10000; i++) log_fail(STATUS_USAGE, "error %d", i);
  assert_memory_equal(log_held(), "error 0\nerror 1\n", 16);
  assert_true(strlen(log_held()) < 10000);
  log_drop();
}

static void a_message_stays_one_line_whatever_is_in_it(void **state)
{
  (void)state;
  log_fail(STATUS_USAGE, "--size \"%s\"", "8x8\n\033[31mx8");
  assert_printed("prog: --size \"8x8??[31mx8\"\n");
  log_fail(STATUS_USAGE, "%s",
           "gr\xc3\xb6\xc3\x9f\x65 \xff\xc2\x9b"
           "31m\xe2\x82");
  assert_printed("prog: gr\xc3\xb6\xc3\x9f\x65 ???31m??\n");
}

static void an_overlong_message_ends_in_dots(void **state)
{
  char word[5000];
  (void)state;
  memset(word, 'x', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  log_hold(1);
  log_fail(STATUS_USAGE, "%s", word);
  size_t length = strlen(log_held());
  assert_true(length < sizeof word - 1);
  assert_string_equal(log_held() + length - 4, "x...");
  log_drop();
}

static void warnings_are_for_rank_0_alone(void **state)
{
  (void)state;
  log_set_rank(1, "n01");
  log_warn("seen by all");
  log_set_rank(0, "n01");
  log_warn("seen by all");
  assert_printed("prog: warning: seen by all\n");
}

#define SPECIFY(test) cmocka_unit_test_setup_teardown(test, reset, give_back)

int main(void)
{
  const struct CMUnitTest tests[] = {
      SPECIFY(a_failure_is_one_line_and_its_status_is_passed_up),
      SPECIFY(a_failure_names_rank_host_and_device_as_far_as_known),
      SPECIFY(a_single_process_has_no_rank),
      SPECIFY(held_errors_are_kept_and_not_printed),
      SPECIFY(held_errors_are_printed_once_when_no_longer_held),
      SPECIFY(a_held_error_of_one_rank_alone_is_known_until_it_is_dropped),
      SPECIFY(dropped_errors_are_gone_and_holding_goes_on),
      SPECIFY(a_flood_of_held_errors_keeps_the_first),
      SPECIFY(a_message_stays_one_line_whatever_is_in_it),
      SPECIFY(an_overlong_message_ends_in_dots),
      SPECIFY(warnings_are_for_rank_0_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
