/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Order statistics of samples, and the clock of all measurements. */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <stddef.h>

#include "base/status.h"

struct stats_summary {
  size_t n;
  double min, median, max, mean;
  double mad;       /**< median absolute deviation from the median, unscaled */
  double sigma_max; /**< upper bound of the standard deviation, at 99%; infinite for n < 3 */
};

/** \brief Compares two doubles, for qsort. */
int stats_compare(const void *a, const void *b);

/** \brief Appends a sample to an array that the caller frees. Returns STATUS_ENVIRONMENT if memory
 * ran out. */
status_t stats_add(double **samples, int *n, double sample);

/** \brief Summarises \a n samples in any order; all zero if n is 0. Ends the program if memory runs
 * out, because no caller could report a result. */
struct stats_summary stats_summarise(const double *samples, size_t n);

/** Standard deviation of normally distributed values, as a multiple of their MAD. */
#define STATS_MAD_SIGMAS 1.4826

/** Relative noise above which a run prints a warning. */
#define STATS_NOISY 0.02

/** \brief Returns the relative noise of a run: 1.4826·MAD over the median; 0 for fewer than three
 * samples. It is an estimate: with few samples it is often much too small. */
double stats_noise(const struct stats_summary *summary);

/** \brief Returns the upper bound of the relative noise, at 99%; infinite for fewer than three
 * samples. Verdicts use this bound. */
double stats_noise_max(const struct stats_summary *summary);

/** \brief Returns the seconds of the monotonic clock. */
double stats_now(void);

#endif
