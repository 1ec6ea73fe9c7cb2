/* SPDX-License-Identifier: MIT */
#include "tools/memory/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

/** Minimum penalty of a segment, in squared logarithms. With it a step of 8% is found if three
 * points are on each side. */
#define PENALTY_MIN 0.005
/** Penalty of a segment, in variances of the noise: the two parameters per segment (level and
 * position) that the Bayesian information criterion counts, doubled for safety. */
#define PENALTY_NOISE 4
/** Levels that differ by less than this factor count as the same. */
#define SAME_LEVEL 1.08
/** A segment that rises by less than this factor from the end of a plateau continues it. */
#define GENTLE_RISE 1.05
/** A segment of at least LEAST_LEVEL points is level if its fitted line rises by less than the
 * factor TREND_MAX, or TREND_FIRST for the first segment of a plateau. A segment of at least
 * LONG_LEVEL points is level whatever its rise. */
#define TREND_MAX   1.10
#define TREND_FIRST 1.05
#define LEAST_LEVEL 3
#define LONG_LEVEL  7

/** steps_approach ignores 1/APPROACH_ENDS of the points at each end of a plateau, which belong to a
 * step. It needs APPROACH_POINTS others, and must explain APPROACH_EXPLAINED of their variance. */
#define APPROACH_ENDS      8
#define APPROACH_POINTS    8
#define APPROACH_EXPLAINED 0.8

#define POINTS_MAX 256

/* ---- plateaus ---- */

struct curve {
  int n;
  double z[POINTS_MAX];                               /* logarithms */
  double sum[POINTS_MAX + 1], square[POINTS_MAX + 1]; /* prefix sums of z and of z² */
  double penalty;
};

/* Returns the variance of the noise, from the differences z[i−1] − 2 z[i] + z[i+1], of which steps
 * and ramps affect few. If the values are independent, these have six times their variance. */
static double noise_variance(const struct curve *c)
{
  double differences[POINTS_MAX];
  int n = c->n - 2;
  if (n < 3) return 0;
  for (int i = 0; i < n; i++) differences[i] = fabs(c->z[i] - 2 * c->z[i + 1] + c->z[i + 2]);
  double sigma = STATS_MAD_SIGMAS * stats_summarise(differences, (size_t)n).median / sqrt(6);
  return sigma * sigma;
}

/* Sets start[e] to the start of the last segment in the best partition of points 0 … e − 1. */
static void partition(const struct curve *c, int start[POINTS_MAX + 1])
{
  double best[POINTS_MAX + 1] = {0};
  for (int end = 1; end <= c->n; end++) {
    best[end] = INFINITY;
    for (int first = 0; first < end; first++) {
      const double sum = c->sum[end] - c->sum[first], square = c->square[end] - c->square[first];
      const double cost = best[first] + fmax(0, square - sum * sum / (end - first)) + c->penalty;
      if (cost >= best[end]) continue;
      best[end] = cost;
      start[end] = first;
    }
  }
}

/* Returns the factor by which points first … end − 1 rise, by a line through their logarithms. */
static double trend(const struct curve *c, int first, int end)
{
  int n = end - first;
  double middle = (n - 1) / 2.0, along = 0, over = 0;
  for (int i = 0; i < n; i++) {
    along += (i - middle) * c->z[first + i];
    over += (i - middle) * (i - middle);
  }
  return exp(along / over * (n - 1));
}

static int is_level(const struct curve *c, int first, int end, double most)
{
  int n = end - first;
  return n >= LONG_LEVEL || (n >= LEAST_LEVEL && trend(c, first, end) < most);
}

static double steps_level(const double *y, int first, int last)
{
  return stats_summarise(y + first, (size_t)(last - first + 1)).median;
}

/* Returns whether the segment that begins at \a first rises only gently from the plateau's end, as
 * latencies do while the sets of a cache fill. */
static int steps_continues(const double *y, const struct steps_plateau *p, int first)
{
  return first == p->last + 1 &&
         steps_level(y, first, first + 1) < steps_level(y, p->last - 1, p->last) * GENTLE_RISE;
}

/* Adds a segment to the last plateau if the segment is no higher or continues the plateau.
 * Otherwise starts a new plateau if \a starts is 1. Returns the number of plateaus. */
static int steps_append(const double *y, int first, int last, int starts, struct steps_plateau *plateaus,
                        int n)
{
  double level = steps_level(y, first, last);
  if (n > 0 && (level < plateaus[n - 1].level * SAME_LEVEL || steps_continues(y, &plateaus[n - 1], first))) {
    struct steps_plateau *p = &plateaus[n - 1];
    if (level * SAME_LEVEL > p->level) p->last = last;
    p->level = steps_level(y, p->first, p->last);
    return n;
  }
  if (!starts || n == STEPS_PLATEAUS_MAX) return n;
  plateaus[n] = (struct steps_plateau){first, last, level};
  return n + 1;
}

int steps_find(const double *y, int n, struct steps_plateau plateaus[STEPS_PLATEAUS_MAX])
{
  struct curve curve = {.n = n};
  int start[POINTS_MAX + 1] = {0}, ends[POINTS_MAX], pieces = 0, found = 0;
  if (n < 1 || n > POINTS_MAX) return 0;
  for (int i = 0; i < n; i++) {
    double z = curve.z[i] = log(y[i]);
    curve.sum[i + 1] = curve.sum[i] + z;
    curve.square[i + 1] = curve.square[i] + z * z;
  }
  curve.penalty = fmax(PENALTY_MIN, PENALTY_NOISE * log(n) * noise_variance(&curve));
  partition(&curve, start);
  for (int end = n; end > 0; end = start[end]) ends[pieces++] = end;
  while (pieces-- > 0) {
    int end = ends[pieces], first = start[end];
    if (is_level(&curve, first, end, TREND_MAX))
      found = steps_append(y, first, end - 1, is_level(&curve, first, end, TREND_FIRST), plateaus, found);
  }
  return found;
}

struct steps_line {
  double base, slope;
  double left, all; /**< sum of squares around the line, and around the mean */
};

static struct steps_line line_through(const double *x, const double *y, int n)
{
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
  for (int i = 0; i < n; i++) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  for (int i = 0; i < n; i++) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  double slope = xx > 0 ? xy / xx : 0;
  return (struct steps_line){mean_y - slope * mean_x, slope, fmax(0, yy - slope * xy), yy};
}

int steps_approach(const uint64_t *bytes, const double *y, const struct steps_plateau *plateau, double *far,
                   double *near)
{
  int cut = (plateau->last - plateau->first + 1) / APPROACH_ENDS;
  int first = plateau->first + cut, n = plateau->last - cut - first + 1;
  double inverse[POINTS_MAX];
  if (n < APPROACH_POINTS) return 0;
  for (int i = 0; i < n; i++) inverse[i] = 1 / (double)bytes[first + i];
  struct steps_line line = line_through(inverse, y + first, n);
  if (line.slope >= 0 || line.left > (1 - APPROACH_EXPLAINED) * line.all) return 0;
  *far = line.base;
  *near = -line.slope;
  return 1;
}
