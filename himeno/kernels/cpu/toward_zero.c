/* SPDX-License-Identifier: MIT */
/* The sweep as a QPU rounds it, on the host: the same expression in the same order, every operation
 * rounded toward zero and denormals treated as zero. Points are computed one by one by functions
 * that are not inlined, so that no other code runs in that rounding mode. */
#include <math.h>

#include "gpu/qpu/isa/alu.h"
#include "himeno/kernels/cpu/cpu_sweep.h"

static float flushed(float x)
{
  return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* volatile, because compilers fold constants and reorder operands as if rounding to nearest. */
static float toward_zero_add(float x, float y)
{
  volatile float a = flushed(x), sum = a + flushed(y);
  return flushed(sum);
}

static float sub(float x, float y)
{
  return toward_zero_add(x, -y);
}

static float mul(float x, float y)
{
  volatile float a = flushed(x), product = a * flushed(y);
  return flushed(product);
}

static float cross(float coefficient, float a, float b, float c, float d)
{
  return mul(coefficient, toward_zero_add(sub(sub(a, b), c), d));
}

static float toward_zero_residual(const struct cpu_sweep *s, int64_t x)
{
  const float *const *c = s->coefficient, *p = s->p + x;
  const int64_t I = s->plane, J = s->pitch, K = 1;
  float s0 = mul(c[HIMENO_A0][x], p[I]);
  s0 = toward_zero_add(s0, mul(c[HIMENO_A1][x], p[J]));
  s0 = toward_zero_add(s0, mul(c[HIMENO_A2][x], p[K]));
  s0 = toward_zero_add(s0, cross(c[HIMENO_B0][x], p[I + J], p[I - J], p[-I + J], p[-I - J]));
  s0 = toward_zero_add(s0, cross(c[HIMENO_B1][x], p[J + K], p[-J + K], p[J - K], p[-J - K]));
  s0 = toward_zero_add(s0, cross(c[HIMENO_B2][x], p[I + K], p[-I + K], p[I - K], p[-I - K]));
  s0 = toward_zero_add(s0, mul(c[HIMENO_C0][x], p[-I]));
  s0 = toward_zero_add(s0, mul(c[HIMENO_C1][x], p[-J]));
  s0 = toward_zero_add(s0, mul(c[HIMENO_C2][x], p[-K]));
  s0 = toward_zero_add(s0, c[HIMENO_WRK1][x]);
  return mul(sub(mul(s0, c[HIMENO_A3][x]), p[0]), c[HIMENO_BND][x]);
}

double cpu_toward_zero_rows(const struct cpu_sweep *s, int64_t first, int64_t last)
{
  const int64_t rows = box_extent(&s->box, 1);
  struct qpu_alu_mode mode;
  double gosa = 0;

  if (qpu_alu_enter(&mode) != STATUS_OK) return NAN;
  for (int64_t row = first; row < last; row++) {
    int64_t i = s->box.lo[0] + row / rows, j = s->box.lo[1] + row % rows;
    for (int64_t k = s->box.lo[2]; k < s->box.hi[2]; k++) {
      int64_t x = i * s->plane + j * s->pitch + k;
      float ss = toward_zero_residual(s, x);
      gosa += (double)mul(ss, ss);
      s->out[x] = toward_zero_add(s->p[x], mul(HIMENO_OMEGA, ss));
    }
  }
  qpu_alu_leave(&mode);
  return gosa;
}
