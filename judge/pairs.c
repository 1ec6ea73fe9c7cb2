/* SPDX-License-Identifier: MIT */
#include "judge/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

/* One end of a pair: a rank, its path to the other end, its latency or rate, and the median value
 * of similar ends (0 if there are too few). */
struct pair {
  int rank;
  const struct judge_path *path;
  double value, typical;
};

/* Returns the ends of all pairs, and their number in \a n. Returns NULL if memory ran out. */
static struct pair *pairs_list(const struct judge_run *run, int rate, int *n)
{
  size_t capacity = 1;
  for (int r = 0; r < run->n_ranks; r++) capacity += (size_t)run->ranks[r].n_paths;
  struct pair *pairs = malloc(capacity * sizeof *pairs);
  *n = 0;
  for (int r = 0; pairs && r < run->n_ranks; r++)
    for (int m = 0; m < run->ranks[r].n_paths; m++) {
      const struct judge_path *path = &run->ranks[r].paths[m];
      pairs[(*n)++] = (struct pair){r, path, rate ? path->gbps : path->us, 0};
    }
  return pairs;
}

/* Returns the worst value. If \a ratio, each value is first divided by the median of similar ends.
 * \a check gets the suspected end. */
static double pairs_worst(const struct judge_run *run, const struct pair *pairs, int n, int ratio,
                          struct check *check)
{
  double worst = NAN;
  int peer = -1;
  for (int p = 0; p < n; p++) {
    const double value = !ratio                 ? pairs[p].value
                         : pairs[p].typical > 0 ? pairs[p].value / pairs[p].typical
                                                : NAN;
    if (isnan(value) || (check->at_most ? value <= worst : value >= worst)) continue;
    worst = value;
    check->rank = pairs[p].rank;
    peer = pairs[p].path->peer;
  }
  if (peer >= 0) suspect_end(run, &check->rank, peer, check->why, sizeof check->why);
  return worst;
}

double pairs_slowest(const struct judge_run *run, struct check *check)
{
  int n;
  struct pair *pairs = pairs_list(run, !check->at_most, &n);
  const double worst = pairs_worst(run, pairs, n, 0, check);
  free(pairs);
  return worst;
}

static int pairs_within(const struct judge_run *run, const struct pair *p)
{
  return run->ranks[p->rank].host == run->ranks[p->path->peer].host;
}

static int pairs_similar(const struct judge_run *run, const struct pair *a, const struct pair *b)
{
  return pairs_within(run, a) == pairs_within(run, b) && strcmp(a->path->used, b->path->used) == 0 &&
         strcmp(a->path->handover, b->path->handover) == 0;
}

/* Sets `typical` of all ends. It is computed for the first end of each group of similar ends, and
 * copied to the others. PAIRS_SIMILAR_MIN counts pairs, which have two ends each. */
static void pairs_usual(const struct judge_run *run, struct pair *pairs, int n, double *scratch)
{
  for (int p = 0; p < n; p++) {
    int first = 0, similar = 0;
    while (!pairs_similar(run, &pairs[first], &pairs[p])) first++;
    pairs[p].typical = pairs[first].typical;
    for (int o = p; first == p && o < n; o++)
      if (pairs_similar(run, &pairs[p], &pairs[o]) && !isnan(pairs[o].value))
        scratch[similar++] = pairs[o].value;
    if (similar >= 2 * PAIRS_SIMILAR_MIN) pairs[p].typical = stats_summarise(scratch, (size_t)similar).median;
  }
}

double pairs_ratio(const struct judge_run *run, struct check *check)
{
  int n;
  struct pair *pairs = pairs_list(run, !check->at_most, &n);
  double *scratch = malloc(sizeof *scratch * ((size_t)n + 1));
  if (pairs && scratch) pairs_usual(run, pairs, n, scratch);
  const double worst = pairs_worst(run, pairs, n, 1, check);
  free(scratch);
  free(pairs);
  if (check->rank < 0 && run->has_pairs)
    check_inapplicable(check, "needs %d pairs with one transport", PAIRS_SIMILAR_MIN);
  return worst;
}
