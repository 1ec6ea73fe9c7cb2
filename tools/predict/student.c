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

static const double pi = 3.14159265358979323846;

/* Returns the p-quantile of the normal distribution by Newton's method, whose steps from 0 never
 * pass the quantile. */
static double normal_quantile(double p)
{
  double z = 0;
  for (int step = 0; step < 40; step++) z -= (erfc(-z / sqrt(2)) / 2 - p) * sqrt(2 * pi) * exp(z * z / 2);
  return z;
}

double student_largest(double q, double n)
{
  return normal_quantile(pow(q, 1 / n));
}

double student_largest_expected(double n)
{
  return normal_quantile((n - 0.375) / (n + 0.25));
}

/* The angle whose tangent times the root of the degrees of freedom is a quantile grows, from the
 * median on, by its cosine to the power of 1 − freedom. Integrates it by the method of Runge and
 * Kutta, with a relative error of 2e-6. */
double student_95(double freedom)
{
  enum { STEPS = 32 };
  const double n = fmax(freedom, 1), power = 1 - n,
               step = 0.45 / STEPS * sqrt(pi) * exp(lgamma(n / 2) - lgamma((n + 1) / 2));
  double angle = 0;
  for (int s = 0; s < STEPS; s++) {
    const double first = step * pow(cos(angle), power), second = step * pow(cos(angle + first / 2), power),
                 third = step * pow(cos(angle + second / 2), power),
                 last = step * pow(cos(angle + third), power);
    angle += (first + 2 * second + 2 * third + last) / 6;
  }
  return sqrt(n) * tan(angle);
}
