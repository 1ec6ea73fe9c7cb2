/* SPDX-License-Identifier: MIT */
#include "himeno/problem.h"

#include "base/hash.h"

const char *const himeno_data_names[HIMENO_DATA_SETS] = {"standard", "dense"};

const struct himeno_rule himeno_rules[HIMENO_ARRAYS] = {
    [HIMENO_A0] = {"a0", 1.0f, 0.8f, 0.2f, 0.0f},
    [HIMENO_A1] = {"a1", 1.0f, 0.8f, 0.2f, 0.0f},
    [HIMENO_A2] = {"a2", 1.0f, 0.8f, 0.2f, 0.0f},
    [HIMENO_A3] = {"a3", (float)(1.0 / 6.0), 0.15f, 0.0166f, 0.0f},
    [HIMENO_B0] = {"b0", 0.0f, -0.05f, 0.1f, 0.0f},
    [HIMENO_B1] = {"b1", 0.0f, -0.05f, 0.1f, 0.0f},
    [HIMENO_B2] = {"b2", 0.0f, -0.05f, 0.1f, 0.0f},
    [HIMENO_C0] = {"c0", 1.0f, 0.8f, 0.2f, 0.0f},
    [HIMENO_C1] = {"c1", 1.0f, 0.8f, 0.2f, 0.0f},
    [HIMENO_C2] = {"c2", 1.0f, 0.8f, 0.2f, 0.0f},
    [HIMENO_BND] = {"bnd", 1.0f, 0.9f, 0.1f, 0.0625f},
    [HIMENO_WRK1] = {"wrk1", 0.0f, -0.001f, 0.002f, 0.0f},
    [HIMENO_P] = {"p", 0.0f, 0.0f, 1.0f, 0.0f},
};

double himeno_points(const int64_t extent[3])
{
  return (double)(extent[0] - 2) * (double)(extent[1] - 2) * (double)(extent[2] - 2);
}

double himeno_gflops(double points, double sweeps, double seconds)
{
  return seconds > 0 ? points * HIMENO_FLOP_PER_POINT * sweeps / seconds / 1e9 : 0;
}

double himeno_bytes_per_second(double gflops)
{
  return gflops * 1e9 / HIMENO_FLOP_PER_POINT * HIMENO_BYTES_PER_POINT;
}

float himeno_standard_p(int64_t i, int64_t imax)
{
  return (float)(i * i) / (float)((imax - 1) * (imax - 1));
}

float himeno_dense_value(enum himeno_array array, uint64_t g)
{
  const struct himeno_rule *rule = &himeno_rules[array];
  float u = (float)(uint32_t)(hash_mix(hash_mix(g) + (uint64_t)array) >> 40) * 0x1p-24f;
  float scaled = rule->w * u;
  return u < rule->zero_below ? 0.0f : rule->lo + scaled;
}
