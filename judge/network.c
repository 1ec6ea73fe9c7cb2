/* SPDX-License-Identifier: MIT */
/* The checks of comm-gpu's streams between hosts: each card against its wire, and the fabric. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "judge/checks.h"
#include "judge/parts.h"

#define WIRES_MIN 4 /* with fewer cards there is no median to compare with */

/* A value of the s-th stream to a rank from another host. */
static double flow_number(const struct judge_run *run, int rank, int s, const char *name)
{
  char path[32];
  snprintf(path, sizeof path, "fabric.%d.%s", s, name);
  return view_number(run->ranks[rank].row, path);
}

/* The largest slowdown of a pair of hosts when all hosts send at once. The hosts themselves are not
 * the cause, because the same pair is fast when it is isolated. */
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

/* The largest distance of a host below the median of all hosts, relative. A host counts by its
 * fastest pair in either direction, each pair measured in isolation: the slower pairs may be slow
 * because of their other end. */
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

/* The largest distance of a card below the median of all cards, relative, isolated or concurrent.
 * Either end of its wire may be the cause. */
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
