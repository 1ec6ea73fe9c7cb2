/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "base/status.h"

TEST(each_status_has_its_exit_code_and_word)
{
  static const struct {
    status_t status;
    int code;
    const char *word;
  } cases[] = {{STATUS_OK, 0, "pass"},     {STATUS_USAGE, 2, "usage"}, {STATUS_ENVIRONMENT, 3, "environment"},
               {STATUS_NOISY, 3, "noisy"}, {STATUS_WRONG, 4, "wrong"}, {STATUS_SLOW, 5, "slow"},
               {STATUS_HANG, 6, "hang"},   {STATUS_FAULT, 7, "fault"}, {STATUS_INCOMPLETE, 8, "incomplete"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    assert_int_equal(status_exit_code(cases[c].status), cases[c].code);
    assert_string_equal(status_verdict(cases[c].status), cases[c].word);
  }
}

TEST(the_graver_of_two_wins_in_either_order)
{
  static const status_t by_gravity[] = {STATUS_FAULT,       STATUS_HANG,  STATUS_WRONG,
                                        STATUS_ENVIRONMENT, STATUS_NOISY, STATUS_USAGE,
                                        STATUS_INCOMPLETE,  STATUS_SLOW,  STATUS_OK};
  for (int i = 0; i < 9; i++)
    for (int j = i; j < 9; j++) {
      assert_int_equal(status_worst(by_gravity[i], by_gravity[j]), by_gravity[i]);
      assert_int_equal(status_worst(by_gravity[j], by_gravity[i]), by_gravity[i]);
    }
}

static status_t count_and_return(int *calls, status_t outcome)
{
  (*calls)++;
  return outcome;
}

static status_t run_two(int *calls, status_t first)
{
  status_t status;
  TRY(count_and_return(calls, first), done);
  TRY(count_and_return(calls, STATUS_OK), done);
done:
  return status;
}

static status_t run_two_with_nothing_to_unwind(int *calls, status_t first)
{
  RETURN_IF_FAILED(count_and_return(calls, first));
  RETURN_IF_FAILED(count_and_return(calls, STATUS_OK));
  return STATUS_OK;
}

TEST(a_failure_stops_what_follows_and_is_passed_up_and_success_goes_on)
{
  int calls = 0;
  assert_int_equal(run_two(&calls, STATUS_HANG), STATUS_HANG);
  assert_int_equal(run_two_with_nothing_to_unwind(&calls, STATUS_HANG), STATUS_HANG);
  assert_int_equal(calls, 2);
  assert_int_equal(run_two(&calls, STATUS_OK), STATUS_OK);
  assert_int_equal(run_two_with_nothing_to_unwind(&calls, STATUS_OK), STATUS_OK);
  assert_int_equal(calls, 6);
}

UNIT_MAIN(NULL, NULL)
