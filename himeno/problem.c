/* SPDX-License-Identifier: MIT */
#include "himeno/problem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/log.h"

/** Grids above this many points overflow byte counts sooner or later, and no machine holds them. */
#define POINTS_MAX ((int64_t)1 << 48)

static const struct himeno_size named_sizes[] = {
    {"XS", {32, 32, 64}},   {"S", {64, 64, 128}},     {"M", {128, 128, 256}},
    {"L", {256, 256, 512}}, {"XL", {512, 512, 1024}},
};

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

int himeno_size_count(void)
{
  return (int)(sizeof named_sizes / sizeof *named_sizes);
}

const struct himeno_size *himeno_size_named(int n)
{
  return n >= 0 && n < himeno_size_count() ? &named_sizes[n] : NULL;
}

/** Reads "IxJxK" as a whole: plain digits, no signs, no blanks. */
static int parse_extents(const char *text, int64_t extent[3])
{
  for (int d = 0; d < 3; d++) {
    char *end;
    if (*text < '0' || *text > '9') return 0;
    errno = 0;
    extent[d] = strtoll(text, &end, 10);
    if (errno || *end != (d < 2 ? 'x' : '\0')) return 0;
    text = end + (d < 2);
  }
  return 1;
}

/** The extents as a name: at most 17 digits, since their product is at most POINTS_MAX. */
static void name_extents(struct himeno_size *size)
{
  char text[64];
  snprintf(text, sizeof text, "%" PRId64 "x%" PRId64 "x%" PRId64, size->extent[0], size->extent[1],
           size->extent[2]);
  memcpy(size->name, text, sizeof size->name - 1);
  size->name[sizeof size->name - 1] = '\0';
}

status_t himeno_size_parse(const char *option, const char *text, struct himeno_size *size)
{
  struct himeno_size parsed;
  int64_t *e = parsed.extent;

  for (int n = 0; n < himeno_size_count(); n++)
    if (!strcasecmp(text, named_sizes[n].name)) {
      *size = named_sizes[n];
      return STATUS_OK;
    }
  if (!parse_extents(text, e))
    return log_fail(STATUS_USAGE, "%s %s: allowed are XS, S, M, L, XL, or IxJxK", option, text);
  if (e[0] < 3 || e[1] < 3 || e[2] < 3)
    return log_fail(STATUS_USAGE, "%s %s: each extent must be at least 3", option, text);
  if (e[0] > POINTS_MAX / e[1] || e[0] * e[1] > POINTS_MAX / e[2])
    return log_fail(STATUS_USAGE, "%s %s: at most 2^48 points are allowed", option, text);
  name_extents(&parsed);
  for (int n = 0; n < himeno_size_count(); n++) {
    const int64_t *known = named_sizes[n].extent;
    if (e[0] == known[0] && e[1] == known[1] && e[2] == known[2]) parsed = named_sizes[n];
  }
  *size = parsed;
  return STATUS_OK;
}

double himeno_points(const int64_t extent[3])
{
  return (double)(extent[0] - 2) * (double)(extent[1] - 2) * (double)(extent[2] - 2);
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
