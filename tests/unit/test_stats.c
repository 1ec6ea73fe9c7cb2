/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
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

static void two_samples_give_no_noise(void **state)
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

static double uniform(uint64_t *state)
{
  return ((double)(hash_mix((*state)++) >> 11) + 0.5) / 9007199254740992.0;
}

/* Returns a random number with mean 1. \a skewed: log-normal, like times on a busy host. */
static double varied(uint64_t *state, double sigma, int skewed)
{
  const double radius = sqrt(-2 * log(uniform(state)));
  const double normal = radius * cos(2 * 3.14159265358979324 * uniform(state));
  return skewed ? exp(sigma * normal) : 1 + sigma * normal;
}

/* Returns the share of runs of n blocks with this noise whose bound is below \a limit. */
static double share_below(int n, double sigma, int skewed, double limit)
{
  enum { RUNS = 20000 };
  uint64_t state = (uint64_t)n << 32;
  double samples[64];
  int below = 0;
  for (int run = 0; run < RUNS; run++) {
    for (int s = 0; s < n; s++) samples[s] = varied(&state, sigma, skewed);
    const struct stats_summary summary = stats_summarise(samples, (size_t)n);
    below += stats_noise_max(&summary) < limit;
  }
  return (double)below / RUNS;
}

static void noise_is_below_its_bound_in_99_of_100_runs_of_any_number_of_blocks(void **state)
{
  (void)state;
  for (int n = 3; n <= 64; n += n < 24 ? 1 : 8) {
    /* The tolerance of 0.002 is three standard deviations of 20000 runs. */
    assert_true(share_below(n, 0.05, 0, 0.05) < 0.012);
    for (int skewed = 0; skewed < 2; skewed++) assert_true(share_below(n, 0.2, skewed, 0.05) < 0.001);
  }
}

static void the_bound_is_a_known_multiple_of_a_known_deviation(void **state)
{
  /* Bounds for samples 0, -1, 2, -3, …: the product of 1.4826, the factor and the deviation. */
  static const struct {
    size_t n;
    double bound;
  } known[] = {{3, 15.1226}, {4, 9.26628},  {5, 9.60730}, {6, 8.67324},
               {7, 9.42937}, {21, 25.1450}, {25, 28.2881}};
  double samples[25];
  (void)state;
  for (int s = 0; s < 25; s++) samples[s] = s % 2 ? -s : s;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    assert_true(fabs(stats_summarise(samples, known[k].n).sigma_max - known[k].bound) < 1e-3);
}

static void few_blocks_are_known_by_the_worst_and_many_without_their_outliers(void **state)
{
  double many[40];
  struct stats_summary three = stats_summarise(SAMPLES(7.3, 14.2, 13.9));
  (void)state;
  assert_true(stats_noise(&three) < 0.05 && stats_noise_max(&three) > 1);
  for (int s = 0; s < 40; s++) many[s] = s % 8 ? 1 + 0.001 * (s % 3) : 3;
  struct stats_summary disturbed = stats_summarise(many, 40);
  assert_true(stats_noise_max(&disturbed) < 0.01);
  struct stats_summary two = stats_summarise(SAMPLES(1, 1));
  assert_true(isinf(stats_noise_max(&two)));
}

static void the_clock_counts_seconds(void **state)
{
  double begin = stats_now();
  (void)state;
  usleep(20000);
  double seconds = stats_now() - begin;
  assert_true(seconds >= 0.02 && seconds < 10);
}

static void nobody_can_set_the_clock_back(void **state)
{
  struct timespec before;
  (void)state;
  clock_gettime(CLOCK_MONOTONIC, &before);
  assert_true(fabs(stats_now() - (double)before.tv_sec) < 100);
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
      cmocka_unit_test(two_samples_give_no_noise),
      cmocka_unit_test(noise_of_a_zero_median_is_zero_and_not_infinite),
      cmocka_unit_test(noise_is_below_its_bound_in_99_of_100_runs_of_any_number_of_blocks),
      cmocka_unit_test(the_bound_is_a_known_multiple_of_a_known_deviation),
      cmocka_unit_test(few_blocks_are_known_by_the_worst_and_many_without_their_outliers),
      cmocka_unit_test(the_clock_counts_seconds),
      cmocka_unit_test(nobody_can_set_the_clock_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
