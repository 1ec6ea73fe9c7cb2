/* SPDX-License-Identifier: MIT */
#include "comm/halo/grid.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"

/** Maximum number of points of a grid; no machine can hold more. */
#define POINTS_MAX ((int64_t)1 << 48)
#define PROCS_MAX  (1 << 24)

static const struct grid_size named_sizes[] = {
    {"XS", {32, 32, 64}},   {"S", {64, 64, 128}},     {"M", {128, 128, 256}},
    {"L", {256, 256, 512}}, {"XL", {512, 512, 1024}},
};

int grid_size_count(void)
{
  return (int)(sizeof named_sizes / sizeof *named_sizes);
}

const struct grid_size *grid_size_named(int n)
{
  return &named_sizes[n];
}

/** Reads "IxJxK" without signs or blanks. Returns whether the whole text is valid. */
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

/** Sets the name to "IxJxK", which fits: POINTS_MAX limits the numbers to 17 digits in total. */
static void name_extents(struct grid_size *size)
{
  char text[64];
  snprintf(text, sizeof text, "%" PRId64 "x%" PRId64 "x%" PRId64, size->extent[0], size->extent[1],
           size->extent[2]);
  memcpy(size->name, text, sizeof size->name - 1);
  size->name[sizeof size->name - 1] = '\0';
}

status_t grid_size_parse(const char *option, const char *text, void *field)
{
  struct grid_size *size = field;
  struct grid_size parsed = {.name = ""};
  int64_t *e = parsed.extent;

  for (int n = 0; n < grid_size_count(); n++)
    if (!strcasecmp(text, named_sizes[n].name)) {
      *size = named_sizes[n];
      return STATUS_OK;
    }
  if (!parse_extents(text, e))
    return log_fail(STATUS_USAGE, "%s %s: must be XS, S, M, L, XL or IxJxK", option, text);
  if (e[0] < 3 || e[1] < 3 || e[2] < 3)
    return log_fail(STATUS_USAGE, "%s %s: each extent must be at least 3", option, text);
  if (e[0] > POINTS_MAX / e[1] || e[0] * e[1] > POINTS_MAX / e[2])
    return log_fail(STATUS_USAGE, "%s %s: must have at most 2^48 points", option, text);
  name_extents(&parsed);
  for (int n = 0; n < grid_size_count(); n++)
    if (memcmp(e, named_sizes[n].extent, sizeof parsed.extent) == 0) parsed = named_sizes[n];
  *size = parsed;
  return STATUS_OK;
}

status_t grid_procs_parse(const char *option, const char *text, void *field)
{
  int64_t parts[3];
  int *procs = field;
  if (strcmp(text, "auto") == 0) {
    procs[0] = 0;
    return STATUS_OK;
  }
  int good = parse_extents(text, parts);
  for (int d = 0; good && d < 3; d++) {
    good = parts[d] >= 1 && parts[d] <= PROCS_MAX;
    procs[d] = (int)parts[d];
  }
  if (good) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s %s: must be auto or PxQxR, each from 1 to %d", option, text, PROCS_MAX);
}
