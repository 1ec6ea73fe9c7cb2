/* SPDX-License-Identifier: MIT */
/* The checks of comm-gpu's streams between hosts: cards against their wires, and the fabric. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "judge/checks.h"
#include "judge/parts.h"

#define WIRES_MIN 4 /* with fewer there is no usual card */

/* A figure of the s-th stream to a rank from another host. */
static double flow_number(const struct judge_run *run, int rank, int s, const char *name)
{
  char path[32];
  snprintf(path, sizeof path, "fabric.%d.%s", s, name);
  return view_number(run->ranks[rank].row, path);
}

/* How much slower a pair of hosts is while all send. Its hosts are not the cause, since the same
 * pair is fast by itself. */
double fabric_contention(const struct judge_run *run, struct check *check)
{
  double worst = NAN;
  for (int r = 0; r < run->n_ranks; r++)
    for (int s = 0; !isnan(flow_number(run, r, s, "shift")); s++) {
      const double factor = flow_number(run, r, s, "alone") / flow_number(run, r, s, "all");
      if (isnan(factor) || factor <= worst) continue;
      worst = factor;
      snprintf(check->why, sizeof check->why, "the fabric: rank %.0f to rank %d, %.0f hosts further",
               flow_number(run, r, s, "from"), r, flow_number(run, r, s, "shift"));
    }
  return worst;
}

/* How far a host's fastest pair, out or in, is below the median of hosts, each pair by itself. Of
 * two hosts either may be the cause. */
double fabric_spread(const struct judge_run *run, struct check *check)
{
  const size_t ranks = (size_t)run->n_ranks;
  double below = NAN, *best = calloc(2 * ranks + 1, sizeof *best), *known = best + ranks;
  for (int end = 0; best && end < 2; end++) {
    size_t n = 0;
    memset(best, 0, ranks * sizeof *best);
    for (int r = 0; r < run->n_ranks; r++)
      for (int s = 0; !isnan(flow_number(run, r, s, "shift")); s++) {
        const int host = run->ranks[end ? r : (int)flow_number(run, r, s, "from")].host;
        best[host] = fmax(best[host], flow_number(run, r, s, "alone"));
      }
    for (int r = 0; r < run->n_ranks; r++)
      if (best[r] > 0) known[n++] = best[r];
    const double median = stats_summarise(known, n).median;
    for (int r = 0; n > 2 && r < run->n_ranks; r++)
      if (best[r] > 0 && !(1 - best[r] / median <= below)) below = 1 - best[r] / median, check->rank = r;
  }
  free(best);
  return below;
}

/* How far the slowest card is below the median of all, alone or all at once. Either end of its wire
 * may be the cause. */
double wire_spread(const struct judge_run *run, struct check *check)
{
  static const char *const shares[] = {"wire.out", "wire.out_all"};
  double worst = NAN, *known = calloc((size_t)run->n_ranks + 1, sizeof *known);
  for (int s = 0, n = 0; known && s < 2; s++, n = 0) {
    for (int r = 0; r < run->n_ranks; r++) {
      const double share = view_number(run->ranks[r].row, shares[s]);
      if (!isnan(share)) known[n++] = share;
    }
    const double median = stats_summarise(known, (size_t)n).median;
    for (int r = 0; r < run->n_ranks && n >= WIRES_MIN; r++) {
      const double below = 1 - view_number(run->ranks[r].row, shares[s]) / median;
      if (isnan(below) || below <= worst) continue;
      worst = below;
      check->rank = r;
    }
  }
  free(known);
  if (check->rank >= 0)
    snprintf(check->why, sizeof check->why, "%s to rank %.0f's card",
             view_text(run->ranks[check->rank].row, "wire.card"),
             view_number(run->ranks[check->rank].row, "wire.peer"));
  return worst;
}
