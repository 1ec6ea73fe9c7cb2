/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "base/log.h"
#include "tests/unit/capture.h"

static struct capture errors;

static int reset(void **state)
{
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
  free(capture_end(&errors));
  return 0;
}

TEST_WITH(a_failure_is_one_line_and_names_rank_host_and_device_as_far_as_known, reset, give_back)
{
  assert_int_equal(log_fail(STATUS_ENVIRONMENT, "no %s", "memory"), STATUS_ENVIRONMENT);
  assert_string_equal(log_identity(), "");
  log_set_rank(3, "n01");
  log_fail(STATUS_FAULT, "lost");
  log_set_device("GPU-0a1b");
  log_fail(STATUS_FAULT, "lost");
  assert_printed("prog: no memory\nprog: rank 3, host n01: lost\n"
                 "prog: rank 3, host n01, device GPU-0a1b: lost\n");
  log_set_rank(0, NULL);
  assert_string_equal(log_identity(), "rank 0, device GPU-0a1b");
  log_set_rank(-1, "n01");
  assert_string_equal(log_identity(), "host n01, device GPU-0a1b");
}

TEST_WITH(held_errors_are_kept_until_they_are_printed_once_or_dropped, reset, give_back)
{
  log_set_rank(1, "n01");
  log_hold(1);
  log_fail(STATUS_USAGE, "first");
  assert_int_equal(log_held_local(), 0);
  log_fail_local(STATUS_ENVIRONMENT, "second");
  log_fail(STATUS_USAGE, "third");
  assert_int_equal(log_held_local(), 1);
  assert_string_equal(log_held(), "first\nsecond\nthird");
  assert_printed("");
  log_hold(0);
  log_hold(0);
  assert_true(log_held()[0] == 0 && log_held_local() == 0);
  assert_printed(
      "prog: rank 1, host n01: first\nprog: rank 1, host n01: second\nprog: rank 1, host n01: third\n");
  log_hold(1);
  log_fail_local(STATUS_USAGE, "first");
  log_drop();
  assert_true(log_held()[0] == 0 && log_held_local() == 0);
  for (int i = 0; i < 10000; i++) log_fail(STATUS_USAGE, "error %d", i);
  assert_memory_equal(log_held(), "error 0\nerror 1\n", 16);
  assert_int_equal(strlen(log_held()), 4095);
  log_drop();
}

TEST_WITH(muted_errors_are_neither_printed_nor_held, reset, give_back)
{
  for (int mute = 0; mute <= LOG_UNFIT; mute++) {
    assert_int_equal(log_mute(mute), mute ? mute - 1 : 0);
    for (int hold = 1; hold >= 0; hold--) {
      log_fail_local(STATUS_USAGE, "%d usage", mute);
      log_fail_local(STATUS_ENVIRONMENT, "%d environment", mute);
      assert_int_equal(log_held_local(), hold == 0 && mute == 0);
      log_fail(STATUS_WRONG, "%d wrong", mute);
      log_hold(hold);
    }
  }
  assert_int_equal(log_mute(0), LOG_UNFIT);
  assert_printed("prog: 0 usage\nprog: 0 environment\nprog: 0 wrong\nprog: 0 usage\nprog: 0 environment\n"
                 "prog: 0 wrong\nprog: 2 wrong\nprog: 2 wrong\n");
}

static int begun;

static void begin(void)
{
  begun++;
}

TEST_WITH(each_line_of_a_text_is_printed_after_the_progress_is_cleared, reset, give_back)
{
  log_before(begin);
  log_print("n02", "one\ntwo");
  log_before(NULL);
  log_print("", "three");
  assert_printed("prog: n02: one\nprog: n02: two\nprog: three\n");
  assert_int_equal(begun, 2);
}

TEST_WITH(a_message_stays_one_line_whatever_is_in_it, reset, give_back)
{
  log_fail(STATUS_USAGE, "--size \"%s\"", "8x8\n\033[31mx8");
  assert_printed("prog: --size \"8x8??[31mx8\"\n");
  log_fail(STATUS_USAGE, "%s",
           "gr\xc3\xb6\xc3\x9f\x65 \xff\xc2\x9b"
           "31m\xe2\x82");
  assert_printed("prog: gr\xc3\xb6\xc3\x9f\x65 ???31m??\n");
}

TEST_WITH(an_overlong_message_ends_in_dots, reset, give_back)
{
  char word[5000];
  memset(word, 'x', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  log_hold(1);
  log_fail(STATUS_USAGE, "%s", word);
  size_t length = strlen(log_held());
  assert_true(length < sizeof word - 1);
  assert_string_equal(log_held() + length - 4, "x...");
  log_drop();
}

TEST_WITH(warnings_are_for_rank_0_alone, reset, give_back)
{
  log_set_rank(1, "n01");
  log_warn("seen by all");
  log_set_rank(0, "n01");
  log_warn("seen by all");
  assert_printed("prog: warning: seen by all\n");
}

UNIT_MAIN(NULL, NULL)
