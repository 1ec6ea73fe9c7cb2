/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/stats.h"

int stats_compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/** Sorts \a values in place and returns their median. */
static double sort_median(double *values, size_t n)
{
  qsort(values, n, sizeof *values, stats_compare);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Returns the upper confidence bound, at 99%, of the standard deviation, from n ascending absolute
 * deviations from the median. The median of the deviations is below their k-th smallest with the
 * probability that at most k - 1 of n fair coins show heads (David and Nagaraja, Order Statistics,
 * 3rd edition, 7.1); k is the normal approximation of that with the continuity correction. The
 * bound holds for every distribution and ignores as many outliers as n allows. For n < 7 the
 * largest deviation covers less than 99%, and the sample's own median makes the deviations smaller:
 * the factors compensate for both. They were simulated for normal values; tests/unit/test_stats.c
 * repeats the simulation. */
static double sigma_bound(const double *deviations, size_t n)
{
  static const double factors[] = {0, 0, 0, 5.1, 2.5, 1.62, 1.3};
  const size_t k = (size_t)ceil(0.5 * (double)n + 1.1632 * sqrt((double)n) + 0.5);
  const double factor = n < sizeof factors / sizeof *factors ? factors[n] : 1.06;
  if (n < 3) return INFINITY;
  return STATS_MAD_SIGMAS * factor * deviations[(k < n ? k : n) - 1];
}

status_t stats_add(double **samples, int *n, double sample)
{
  double *longer = realloc(*samples, (size_t)(*n + 1) * sizeof *longer);
  if (!longer) return log_fail(STATUS_ENVIRONMENT, "out of host memory for samples");
  longer[(*n)++] = sample;
  *samples = longer;
  return STATUS_OK;
}

struct stats_summary stats_summarise(const double *samples, size_t n)
{
  struct stats_summary summary = {0};
  if (n == 0) return summary;
  double *values = malloc(n * sizeof *values);
  if (!values) {
    log_hold(0); /* prints the held errors */
    exit(status_exit_code(log_fail(STATUS_ENVIRONMENT, "out of host memory for statistics")));
  }
  memcpy(values, samples, n * sizeof *values);
  summary.n = n;
  summary.median = sort_median(values, n);
  summary.min = values[0];
  summary.max = values[n - 1];
  for (size_t i = 0; i < n; i++) summary.mean += values[i] / (double)n;
  for (size_t i = 0; i < n; i++) values[i] = fabs(values[i] - summary.median);
  summary.mad = sort_median(values, n);
  summary.sigma_max = sigma_bound(values, n);
  free(values);
  return summary;
}

double stats_noise(const struct stats_summary *summary)
{
  if (summary->n < 3 || summary->median == 0) return 0;
  return STATS_MAD_SIGMAS * summary->mad / fabs(summary->median);
}

double stats_noise_max(const struct stats_summary *summary)
{
  if (summary->n < 3) return INFINITY;
  return summary->median == 0 ? 0 : summary->sigma_max / fabs(summary->median);
}

double stats_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
