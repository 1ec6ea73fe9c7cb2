/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include <unistd.h>

#include "base/stats.h"

#define SAMPLES(...) (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double)

static void samples_come_in_any_order_and_stay_as_they_are(void **state)
{
  double samples[] = {5, 1, 4, 2, 3};
  struct stats_summary summary = stats_summarise(samples, 5);
  (void)state;
  assert_int_equal(summary.n, 5);
  assert_true(summary.min == 1 && summary.median == 3 && summary.max == 5);
  assert_true(summary.mean > 2.999999999 && summary.mean < 3.000000001);
  assert_true(samples[0] == 5 && samples[4] == 3);
}

static void the_median_of_an_even_number_lies_between_the_middle_two(void **state)
{
  struct stats_summary summary = stats_summarise(SAMPLES(10, 1, 2, 4));
  (void)state;
  assert_true(summary.median == 3);
}

static void deviation_is_taken_from_the_median_so_that_an_outlier_does_not_count(void **state)
{
  struct stats_summary summary = stats_summarise(SAMPLES(1, 2, 3, 4, 1000));
  (void)state;
  assert_true(summary.mad == 1);
}

static void one_sample_is_its_own_summary(void **state)
{
  struct stats_summary summary = stats_summarise(SAMPLES(-7));
  (void)state;
  assert_true(summary.min == -7 && summary.median == -7 && summary.max == -7 && summary.mean == -7);
  assert_true(summary.mad == 0);
}

static void no_samples_give_zeros(void **state)
{
  struct stats_summary summary = stats_summarise(NULL, 0);
  (void)state;
  assert_int_equal(summary.n, 0);
  assert_true(summary.min == 0 && summary.median == 0 && summary.max == 0 && summary.mean == 0 &&
              summary.mad == 0);
}

static void noise_is_relative_to_the_median(void **state)
{
  struct stats_summary summary = stats_summarise(SAMPLES(90, 100, 110));
  (void)state;
  assert_true(stats_noise(&summary) > 0.148259 && stats_noise(&summary) < 0.148261);
}

static void two_samples_tell_nothing_of_noise(void **state)
{
  struct stats_summary summary = stats_summarise(SAMPLES(1, 100));
  (void)state;
  assert_true(stats_noise(&summary) == 0);
}

static void noise_of_a_zero_median_is_zero_and_not_infinite(void **state)
{
  struct stats_summary summary = stats_summarise(SAMPLES(-1, 0, 1));
  (void)state;
  assert_true(stats_noise(&summary) == 0);
}

static void the_clock_counts_seconds(void **state)
{
  double begin = stats_now();
  (void)state;
  usleep(20000);
  double seconds = stats_now() - begin;
  assert_true(seconds >= 0.02 && seconds < 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_come_in_any_order_and_stay_as_they_are),
      cmocka_unit_test(the_median_of_an_even_number_lies_between_the_middle_two),
      cmocka_unit_test(deviation_is_taken_from_the_median_so_that_an_outlier_does_not_count),
      cmocka_unit_test(one_sample_is_its_own_summary),
      cmocka_unit_test(no_samples_give_zeros),
      cmocka_unit_test(noise_is_relative_to_the_median),
      cmocka_unit_test(two_samples_tell_nothing_of_noise),
      cmocka_unit_test(noise_of_a_zero_median_is_zero_and_not_infinite),
      cmocka_unit_test(the_clock_counts_seconds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
