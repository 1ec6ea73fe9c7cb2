/* SPDX-License-Identifier: MIT */
#include "base/environment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"

static int pair_read(const char *text, long long pair[2])
{
  char rank[24];
  size_t n = strcspn(text, ":");
  if (n >= sizeof rank || !text[n]) return 0;
  snprintf(rank, sizeof rank, "%.*s", (int)n, text);
  return option_read_int(rank, 0, INT_MAX, &pair[0]) == STATUS_OK &&
         option_read_int(text + n + 1, 1, LLONG_MAX, &pair[1]) == STATUS_OK;
}

static status_t pair_check(const char *name, const char *text, void *field)
{
  if (pair_read(text, field)) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s \"%s\": must be RANK:NUMBER, as 1:2 is", name, text);
}

#define NUMBER(from, to) .type = OPTION_INT, .min = from, .max = to
#define SWITCH           NUMBER(0, 1)
#define COUNT            NUMBER(1, 0x1p63)
#define CHOICE(words)    .type = OPTION_CHOICE, .allowed = words

/* All but paths, and but those whose meaning only their reader knows, who checks them: HIMENO_FLIP, HIMENO_GEMM_FLIP and
 * HIMENO_NULL_CLOCK. */
static const struct option_spec variables[] = {
    {.name = "HIMENO_BENCH_CORRUPT", COUNT},
    {.name = "HIMENO_CPU_CACHE", COUNT},
    {.name = "HIMENO_CPU_FETCH", SWITCH},
    {.name = "HIMENO_CPU_SIMD", CHOICE("avx512|avx2|sse2|generic")},
    {.name = "HIMENO_CUDA_BULK", SWITCH},
    {.name = "HIMENO_CUDA_TRAP", COUNT},
    {.name = "HIMENO_HALO_CORRUPT", .type = OPTION_CUSTOM, .parse = pair_check},
    {.name = "HIMENO_MEM_CORRUPT", COUNT},
    {.name = "HIMENO_MPI_DEVICE", SWITCH},
    {.name = "HIMENO_NULL_APART", NUMBER(0, INT_MAX)},
    {.name = "HIMENO_NULL_DEVICES", NUMBER(0, 64)},
    {.name = "HIMENO_NULL_FAIL", COUNT},
    {.name = "HIMENO_NULL_RANK", NUMBER(0, INT_MAX)},
    {.name = "HIMENO_OPENCL_ATOMICS", SWITCH},
    {.name = "HIMENO_OPENCL_FP64", SWITCH},
    {.name = "HIMENO_OPENCL_PERSISTENT", SWITCH},
    {.name = "HIMENO_OPENCL_WIDE", SWITCH},
    {.name = "HIMENO_QPU", CHOICE("pi|emulator")},
};

status_t environment_check(void)
{
  union {
    int choice;
    int64_t number;
    long long pair[2];
  } value;
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *text = environment_text(variables[i].name);
    if (text) RETURN_IF_FAILED(option_read(&variables[i], variables[i].name, text, &value));
  }
  return STATUS_OK;
}

const char *environment_text(const char *name)
{
  const char *text = getenv(name);
  return text && *text ? text : NULL;
}

long long environment_number(const char *name, long long unset)
{
  const char *text = environment_text(name);
  long long value;
  return text && option_read_int(text, LLONG_MIN, LLONG_MAX, &value) == STATUS_OK ? value : unset;
}

int environment_pair(const char *name, long long pair[2])
{
  const char *text = environment_text(name);
  return text && pair_read(text, pair);
}
