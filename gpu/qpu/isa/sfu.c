/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/isa/sfu.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static double evaluate(double x, int address)
{
  switch (address) {
  case QPU_W_SFU_RECIP:
    return 1.0 / x;
  case QPU_W_SFU_RECIPSQRT:
    return 1.0 / sqrt(fabs(x));
  case QPU_W_SFU_EXP:
    return exp2(x);
  default:
    return log2(fabs(x));
  }
}

/* The double is computed to nearest, as the library wants it, and then cut to single precision. */
static uint32_t lane(uint32_t bits, int address)
{
  float value;
  uint32_t result;
  if ((bits & 0x7f800000u) == 0) bits &= 0x80000000u;           /* no denormals */
  if ((bits & 0x7f800000u) == 0x7f800000u) bits &= 0xff800000u; /* no NaN, only infinity */
  memcpy(&value, &bits, sizeof value);
  double exact = evaluate(value, address);
  float cut = (float)exact;
  if (fabs((double)cut) > fabs(exact) && fabs(exact) < 0x1p128) cut = nextafterf(cut, 0.0f);
  memcpy(&result, &cut, sizeof result);
  return (result & 0x7f800000u) == 0 ? result & 0x80000000u : result;
}

void qpu_sfu(qpu_vec *out, const qpu_vec *in, int address)
{
  int mode = fegetround();
  fesetround(FE_TONEAREST);
  for (int i = 0; i < QPU_LANES; i++) (*out)[i] = lane((*in)[i], address);
  fesetround(mode);
}
