/* SPDX-License-Identifier: MIT */
#include "tools/network/pattern.h"

#include "base/switches.h"

SWITCH("HIMENO_BENCH_CORRUPT", TEST, OWN, COUNT,
       "comm-gpu: corrupts what each rank receives in that transfer");

/* For fewer words than this, threads cost more than they save. */
#define PARALLEL_WORDS 65536

int (*pattern_fault)(int64_t transfers);

void pattern_fill(void *buffer, size_t bytes, uint64_t version)
{
  uint32_t *words = buffer;
  int64_t n = (int64_t)(bytes / sizeof *words);
#pragma omp parallel for schedule(static) if (n > PARALLEL_WORDS)
  for (int64_t w = 0; w < n; w++) words[w] = pattern_word((uint64_t)w, version);
}

size_t pattern_check(const void *buffer, size_t bytes, uint64_t version)
{
  const uint32_t *words = buffer;
  int64_t n = (int64_t)(bytes / sizeof *words), first = n;
#pragma omp parallel for schedule(static) reduction(min : first) if (n > PARALLEL_WORDS)
  for (int64_t w = 0; w < n; w++)
    if (words[w] != pattern_word((uint64_t)w, version) && w < first) first = w;
  return first == n ? bytes : (size_t)first * sizeof *words;
}

static int is_corrupt(int64_t transfers)
{
  static int64_t counted;
  counted += transfers;
  return counted >= switch_number("HIMENO_BENCH_CORRUPT", 0);
}

void pattern_fault_read(void)
{
  if (switch_text("HIMENO_BENCH_CORRUPT")) pattern_fault = is_corrupt;
}
