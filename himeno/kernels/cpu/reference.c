/* SPDX-License-Identifier: MIT */
#include "himeno/kernels/cpu/cpu_sweep.h"

/** Returns the residual, as in doc/explanation/method.md, with each operation rounded. */
static float reference_residual(const struct cpu_sweep *s, int64_t x)
{
  const float *const *c = s->coefficient, *p = s->p;
  const int64_t I = s->plane, J = s->pitch, K = 1;
  float s0 = c[HIMENO_A0][x] * p[x + I] + c[HIMENO_A1][x] * p[x + J] + c[HIMENO_A2][x] * p[x + K] +
             c[HIMENO_B0][x] * (p[x + I + J] - p[x + I - J] - p[x - I + J] + p[x - I - J]) +
             c[HIMENO_B1][x] * (p[x + J + K] - p[x - J + K] - p[x + J - K] + p[x - J - K]) +
             c[HIMENO_B2][x] * (p[x + I + K] - p[x - I + K] - p[x + I - K] + p[x - I - K]) +
             c[HIMENO_C0][x] * p[x - I] + c[HIMENO_C1][x] * p[x - J] + c[HIMENO_C2][x] * p[x - K] +
             c[HIMENO_WRK1][x];
  return (s0 * c[HIMENO_A3][x] - p[x]) * c[HIMENO_BND][x];
}

double cpu_reference_rows(const struct cpu_sweep *s, int64_t first, int64_t last)
{
  const int64_t rows = box_extent(&s->box, 1);
  double gosa = 0;

  for (int64_t row = first; row < last; row++) {
    int64_t i = s->box.lo[0] + row / rows, j = s->box.lo[1] + row % rows;
    for (int64_t k = s->box.lo[2]; k < s->box.hi[2]; k++) {
      int64_t x = i * s->plane + j * s->pitch + k;
      float ss = reference_residual(s, x);
      gosa += (double)ss * ss;
      s->out[x] = s->p[x] + HIMENO_OMEGA * ss;
    }
  }
  return gosa;
}
