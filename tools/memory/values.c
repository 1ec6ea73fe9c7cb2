/* SPDX-License-Identifier: MIT */
#include "tools/memory/cmdline.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/values.h"
#include "base/report.h"

#define TEXT_MAX 32

static status_t mem_values_refuse(const char *option, const char *text, uint64_t least, uint64_t most,
                                  uint64_t grain)
{
  char step[64] = "";
  if (grain > 1) snprintf(step, sizeof step, " in steps of %s", report_bytes(grain));
  if (most < 65536)
    return log_fail(STATUS_USAGE, "%s %s: must be numbers from %d to %d%s, separated by commas", option, text,
                    (int)least, (int)most, step);
  return log_fail(STATUS_USAGE, "%s %s: must be sizes such as 64K or 1.5G, from %s%s, separated by commas",
                  option, text, report_bytes(least), step);
}

status_t mem_values_parse(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t grain,
                          struct mem_values *values)
{
  struct mem_values found = {.n = 0};
  char one[TEXT_MAX];
  uint64_t value;
  for (const char *rest = text; rest;) {
    rest = value_next(rest, ',', one, sizeof one);
    if (found.n == MEM_VALUES_MAX || value_read_bytes(one, &value) != STATUS_OK || value < least ||
        value > most || value % grain)
      return mem_values_refuse(option, text, least, most, grain);
    if (!mem_values_have(&found, value)) found.at[found.n++] = value;
  }
  *values = found;
  return STATUS_OK;
}

int mem_values_have(const struct mem_values *values, uint64_t value)
{
  for (int i = 0; i < values->n; i++)
    if (values->at[i] == value) return 1;
  return 0;
}
