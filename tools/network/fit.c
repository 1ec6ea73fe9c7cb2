/* SPDX-License-Identifier: MIT */
#include "tools/network/bench.h"

#include <math.h>

/* Sums of the normal equations, with sizes relative to the largest so that they are well scaled. */
struct sums {
  double w, x, xx, y, xy;
};

static struct sums sums_make(const struct bench_curve *curve, double unit)
{
  struct sums s = {0, 0, 0, 0, 0};
  for (int p = 0; p < curve->n; p++) {
    double x = (double)curve->points[p].bytes / unit, y = curve->points[p].seconds, w = 1 / (y * y);
    s.w += w;
    s.x += w * x;
    s.xx += w * x * x;
    s.y += w * y;
    s.xy += w * x * y;
  }
  return s;
}

static int can_fit(const struct bench_curve *curve, double *unit)
{
  int64_t least = INT64_MAX, most = 0;
  for (int p = 0; p < curve->n; p++) {
    if (!(curve->points[p].seconds > 0)) return 0;
    if (curve->points[p].bytes < least) least = curve->points[p].bytes;
    if (curve->points[p].bytes > most) most = curve->points[p].bytes;
  }
  *unit = (double)most;
  return curve->n >= 2 && most > least;
}

void bench_fit(struct bench_curve *curve)
{
  double unit;
  curve->fit = (struct bench_fit){0, 0, 0, 0};
  if (!can_fit(curve, &unit)) return;
  struct sums s = sums_make(curve, unit);
  double determinant = s.w * s.xx - s.x * s.x;
  double latency = (s.xx * s.y - s.x * s.xy) / determinant;
  double slope = (s.w * s.xy - s.x * s.y) / determinant;
  if (latency < 0) {
    latency = 0;
    slope = s.xy / s.xx;
  }
  if (!(slope > 0)) return; /* no fit, because larger messages took no longer */
  slope /= unit;
  double sum = 0;
  for (int p = 0; p < curve->n; p++) {
    const struct bench_point *point = &curve->points[p];
    const double off = (latency + slope * (double)point->bytes) / point->seconds - 1;
    sum += off * off;
  }
  curve->fit = (struct bench_fit){curve->n, latency, 1 / slope, sqrt(sum / curve->n)};
}
