/* SPDX-License-Identifier: MIT */
#include "tools/predict/student.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

double student_order(double *values, int n, double q)
{
  const int place = (int)ceil(q * (n + 1)) - 1;
  qsort(values, (size_t)n, sizeof *values, ascending);
  return values[place < n ? place : n - 1];
}

/* Returns the p-quantile of the normal distribution. Source: Abramowitz and Stegun 26.2.23, refined
 * by one Newton step. */
static double normal_quantile(double p)
{
  if (p < 0.5) return -normal_quantile(1 - p);
  double t = sqrt(-2 * log(1 - p));
  double z = t - (2.515517 + 0.802853 * t + 0.010328 * t * t) /
                     (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
  double density = exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
  return z - (0.5 * erfc(-z / sqrt(2)) - p) / density;
}

double student_largest(double q, double n)
{
  return normal_quantile(pow(q, 1 / n));
}

double student_largest_expected(double n)
{
  return normal_quantile((n - 0.375) / (n + 0.25));
}

double student_quantile(double p, double freedom)
{
  const double pi = 3.14159265358979323846;
  double two_sided = 2 * (1 - p), n = freedom;
  if (n < 1) n = 1;
  if (fabs(n - 1) < 1e-9) return tan(pi * (p - 0.5));
  if (fabs(n - 2) < 1e-9) return sqrt(2 / (two_sided * (2 - two_sided)) - 2);
  double a = 1 / (n - 0.5), b = 48 / (a * a), c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
  double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * pi / 2) * n;
  double x = d * two_sided, y = pow(x, 2 / n);
  if (y > 0.05 + a) {
    x = normal_quantile(p);
    y = x * x;
    if (n < 5) c += 0.3 * (n - 4.5) * (x + 0.6);
    c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c;
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
    y = a * y * y;
    y = y > 0.002 ? exp(y) - 1 : 0.5 * y * y + y;
  } else {
    y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) * (n + 1) /
            (n + 2) +
        1 / y;
  }
  return sqrt(n * y);
}
