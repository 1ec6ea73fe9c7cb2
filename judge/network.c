/* SPDX-License-Identifier: MIT */
/* The checks of comm-gpu: each card against its wire, the fabric, and collectives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "judge/checks.h"
#include "judge/parts.h"

#define WIRES_MIN 4 /* with fewer cards there is no median to compare with */
/* A rank is slow if even its fastest pair is below this share of the fastest similar pair. */
#define RANK_SLOW 0.9

/* Returns the rank that a document names, or -1 if the run has no such rank. */
static int rank_in(const struct judge_run *run, double rank)
{
  return rank >= 0 && rank < run->n_ranks ? (int)rank : -1;
}

/* Returns the field \a name of the s-th stream from another host to \a rank. */
static double flow_number(const struct judge_run *run, int rank, int s, const char *name)
{
  char path[32];
  snprintf(path, sizeof path, "fabric.%d.%s", s, name);
  return view_number(run->ranks[rank].row, path);
}

/* Returns the largest factor by which a pair of hosts is slower when all hosts send at once. The
 * hosts themselves are not the cause, because the same pair is fast in isolation. */
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

/* Returns how far the slowest host is below the median of all hosts, as a share of the median. A
 * host's rate is that of its fastest pair, separately for sending and receiving and with each pair
 * in isolation: its slower pairs may be slow because of the other host. */
double fabric_spread(const struct judge_run *run, struct check *check)
{
  const size_t ranks = (size_t)run->n_ranks;
  double below = NAN, *best = calloc(2 * ranks + 1, sizeof *best), *known = best + ranks;
  for (int end = 0; best && end < 2; end++) {
    size_t n = 0;
    memset(best, 0, ranks * sizeof *best);
    for (int r = 0; r < run->n_ranks; r++)
      for (int s = 0; !isnan(flow_number(run, r, s, "shift")); s++) {
        const int rank = end ? r : rank_in(run, flow_number(run, r, s, "from"));
        if (rank < 0) continue;
        const int host = run->ranks[rank].host;
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

/* Returns how far the slowest card is below the median of all cards, as a share of the median: the
 * larger result of the isolated and the concurrent measurement. The cause may be at either end of
 * the card's wire. */
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

/* ---- collectives ---- */

/* Returns the highest rate of a path over all message sizes, in GB/s, from \a field ("gbps" or
 * "busbw"); NAN if unknown. */
static double path_best(const json_t *path, const char *field)
{
  const json_t *points = view_at(path, "points");
  double best = NAN;
  for (size_t p = 0; p < json_array_size(points); p++)
    best = fmax(best, view_number(json_array_get(points, p), field));
  return best;
}

/* True if the two ranks of a pair are on one host. */
static int pair_within(const struct judge_run *run, const json_t *pair)
{
  const int rank = rank_in(run, view_number(pair, "rank")), peer = rank_in(run, view_number(pair, "peer"));
  return rank >= 0 && peer >= 0 && run->ranks[rank].host == run->ranks[peer].host;
}

/* True if two pairs were measured by the same transport, in the same direction and under the same
 * load, both within a host or both between two hosts. */
static int pairs_alike(const struct judge_run *run, const json_t *one, const json_t *other)
{
  static const char *const keys[] = {"used", "direction", "company"};
  int same = pair_within(run, one) == pair_within(run, other);
  for (int k = 0; k < 3; k++) same &= strcmp(view_text(one, keys[k]), view_text(other, keys[k])) == 0;
  return same;
}

/* Describes the slowest pair, relative to the fastest similar pair. If a rank is slow with all its
 * peers, \a check gets that rank. */
static void pairs_explain(const struct judge_run *run, const json_t *pairs, struct check *check)
{
  const size_t n = json_array_size(pairs);
  size_t slowest = n;
  double worst = NAN, least = RANK_SLOW, *rates = calloc(n + (size_t)run->n_ranks, sizeof *rates);
  for (size_t p = 0; rates && p < n; p++) rates[p] = path_best(json_array_get(pairs, p), "gbps");
  for (size_t p = 0; rates && p < n; p++) {
    const json_t *pair = json_array_get(pairs, p);
    double usual = rates[p], *own = rates + n;
    for (size_t o = 0; o < n; o++)
      if (rates[o] > usual && pairs_alike(run, pair, json_array_get(pairs, o))) usual = rates[o];
    const double share = rates[p] / usual;
    const int rank = rank_in(run, view_number(pair, "rank")), peer = rank_in(run, view_number(pair, "peer"));
    if (isnan(share) || rank < 0 || peer < 0) continue;
    own[rank] = fmax(own[rank], share);
    own[peer] = fmax(own[peer], share);
    if (share >= worst) continue;
    worst = share;
    slowest = p;
  }
  for (int r = 0; slowest < n && r < run->n_ranks; r++)
    if (rates[n + (size_t)r] > 0 && rates[n + (size_t)r] < least)
      least = rates[n + (size_t)r], check->rank = r;
  const json_t *pair = json_array_get(pairs, slowest);
  if (pair)
    suspect_append(check->why, sizeof check->why,
                   "; slowest pair: ranks %.0f and %.0f by %s, %.3g GB/s, %.0f%% of the fastest",
                   view_number(pair, "rank"), view_number(pair, "peer"), view_text(pair, "used"),
                   rates[slowest], 100 * worst);
  free(rates);
}

double collective_busbw(const struct judge_run *run, struct check *check)
{
  const json_t *all = view_at(run->document, "collectives"), *cards = view_at(run->document, "cards");
  double worst = NAN;
  for (size_t c = 0; c < json_array_size(all); c++) {
    const json_t *one = json_array_get(all, c);
    const double best = path_best(one, "busbw");
    if (isnan(best) || best >= worst) continue;
    worst = best;
    snprintf(check->why, sizeof check->why, "%s", view_text(one, "used"));
  }
  if (isnan(worst)) return worst;
  pairs_explain(run, view_at(run->document, "pairs"), check);
  for (size_t c = 0; c < json_array_size(cards); c++) {
    const json_t *card = json_array_get(cards, c);
    if (view_number(card, "errors_meanwhile") > 0)
      suspect_append(check->why, sizeof check->why, "; %s of %s counted %.0f errors", view_text(card, "card"),
                     view_text(card, "host"), view_number(card, "errors_meanwhile"));
  }
  return worst;
}
