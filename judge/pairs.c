/* SPDX-License-Identifier: MIT */
#include "judge/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

#define KINDS_MAX 16

/* The pair that is worst so far, NAN before there is one. */
struct worst {
  double value;
  int rank, peer;
};

static double pairs_value(const struct judge_path *path, int rate)
{
  return rate ? path->gbps : path->us;
}

static void worst_take(struct worst *worst, double value, int rate, int rank, const struct judge_path *path)
{
  if (!isnan(value) && !(rate ? value >= worst->value : value <= worst->value))
    *worst = (struct worst){value, rank, path->peer};
}

static double worst_tell(const struct judge_run *run, const struct worst *worst, struct check *check)
{
  check->rank = worst->rank;
  if (worst->rank >= 0) suspect_end(run, &check->rank, worst->peer, check->why, sizeof check->why);
  return worst->value;
}

static double pairs_slowest(const struct judge_run *run, int rate, struct check *check)
{
  struct worst worst = {NAN, -1, -1};
  for (int r = 0; r < run->n_ranks; r++)
    for (int m = 0; m < run->ranks[r].n_paths; m++)
      worst_take(&worst, pairs_value(&run->ranks[r].paths[m], rate), rate, r, &run->ranks[r].paths[m]);
  return worst_tell(run, &worst, check);
}

double pairs_us(const struct judge_run *run, struct check *check)
{
  return pairs_slowest(run, 0, check);
}

double pairs_gbps(const struct judge_run *run, struct check *check)
{
  return pairs_slowest(run, 1, check);
}

/* ---- compared with similar pairs ---- */

/* Similar pairs, represented by one of them. */
struct pairs_kind {
  const struct judge_path *like;
  int within; /* a host */
};

static int is_within(const struct judge_run *run, int rank, const struct judge_path *path)
{
  return run->ranks[rank].host == run->ranks[path->peer].host;
}

static int is_kind(const struct judge_run *run, int rank, const struct judge_path *path,
                   const struct pairs_kind *kind)
{
  return is_within(run, rank, path) == kind->within && strcmp(path->used, kind->like->used) == 0 &&
         strcmp(path->handover, kind->like->handover) == 0;
}

static int kinds_find(const struct judge_run *run, struct pairs_kind kinds[KINDS_MAX])
{
  int n = 0;
  for (int rank = 0; rank < run->n_ranks; rank++)
    for (int m = 0; m < run->ranks[rank].n_paths; m++) {
      const struct judge_path *path = &run->ranks[rank].paths[m];
      int k = 0;
      while (k < n && !is_kind(run, rank, path, &kinds[k])) k++;
      if (k == n && n < KINDS_MAX) kinds[n++] = (struct pairs_kind){path, is_within(run, rank, path)};
    }
  return n;
}

/* The median of a kind; 0 if the pairs are too few. Each has two ends. */
static double pairs_typical(const struct judge_run *run, const struct pairs_kind *kind, int rate,
                            double *scratch)
{
  int n = 0;
  for (int rank = 0; rank < run->n_ranks; rank++)
    for (int m = 0; m < run->ranks[rank].n_paths; m++) {
      const struct judge_path *path = &run->ranks[rank].paths[m];
      if (is_kind(run, rank, path, kind) && !isnan(pairs_value(path, rate)))
        scratch[n++] = pairs_value(path, rate);
    }
  return n < 2 * PAIRS_ALIKE_MIN ? 0 : stats_summarise(scratch, (size_t)n).median;
}

static double ratio(const struct judge_run *run, int rate, struct check *check)
{
  struct worst worst = {NAN, -1, -1};
  struct pairs_kind kinds[KINDS_MAX];
  size_t paths = 0;
  for (int r = 0; r < run->n_ranks; r++) paths += (size_t)run->ranks[r].n_paths;
  double *scratch = malloc(sizeof *scratch * (paths + 1));
  const int n = scratch ? kinds_find(run, kinds) : 0;
  for (int k = 0; k < n; k++) {
    const double median = pairs_typical(run, &kinds[k], rate, scratch);
    for (int r = 0; r < run->n_ranks && median > 0; r++)
      for (int m = 0; m < run->ranks[r].n_paths; m++) {
        const struct judge_path *path = &run->ranks[r].paths[m];
        if (is_kind(run, r, path, &kinds[k]))
          worst_take(&worst, pairs_value(path, rate) / median, rate, r, path);
      }
  }
  free(scratch);
  if (worst.rank < 0 && run->has_pairs) {
    check->outcome = CHECK_INAPPLICABLE;
    snprintf(check->why, sizeof check->why, "needs %d pairs of ranks with one transport", PAIRS_ALIKE_MIN);
  }
  return worst_tell(run, &worst, check);
}

double pairs_us_ratio(const struct judge_run *run, struct check *check)
{
  return ratio(run, 0, check);
}

double pairs_gbps_ratio(const struct judge_run *run, struct check *check)
{
  return ratio(run, 1, check);
}
