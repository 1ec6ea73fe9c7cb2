/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/straggler.h"

#include "base/stats.h"

#define NORMAL_MAD 1.4826 /* standard deviations in a MAD of normal times */

struct straggler_scale straggler_scale(const double *times, int n)
{
  struct stats_summary s = stats_summarise(times, (size_t)n);
  struct straggler_scale scale = {s.median, s.mad, 0};
  double chance = STRAGGLER_SIGMAS * NORMAL_MAD * s.mad, least = STRAGGLER_LEAST * s.median;
  if (n >= STRAGGLER_RANKS_MIN) scale.limit = s.median + (chance > least ? chance : least);
  return scale;
}

int straggler_is(const struct straggler_scale *scale, double time)
{
  return scale->limit > 0 && time > scale->limit;
}
