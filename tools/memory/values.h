/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Lists of numbers on the command line: "1,2,4" and "64K,1M,1.5G". */
#ifndef TOOLS_MEMORY_VALUES_H
#define TOOLS_MEMORY_VALUES_H

#include <stdint.h>

#include "base/status.h"

#define MEM_VALUES_MAX 32

struct mem_values {
  uint64_t at[MEM_VALUES_MAX];
  int n;
};

/** \brief One size: a number, whole once its suffix K, M, G or T (powers of 1024) is applied.
 * STATUS_USAGE, silently. */
status_t mem_size_read(const char *text, uint64_t *bytes);

/** \brief A list of sizes between \a least and \a most, each a multiple of \a grain. Logs, naming
 * the option and the value, and returns STATUS_USAGE. */
status_t mem_values_parse(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t grain,
                          struct mem_values *values);

/** \brief Whether \a value is in the list. */
int mem_values_have(const struct mem_values *values, uint64_t value);

#endif
