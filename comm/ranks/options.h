/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Entries of a program's option table for its ranks. AT(field) and readers as in
 * gpu/device_options.h. */
#ifndef COMM_RANKS_OPTIONS_H
#define COMM_RANKS_OPTIONS_H

#include "base/options.h"
#include "comm/halo/grid.h"

#define RANKS_OPTION_PROCS(reads)                                                                            \
  {                                                                                                          \
    .name = "procs", .readers = (reads), .letter = 'p', .type = OPTION_CUSTOM, .parse = grid_procs_parse,    \
    .offset = AT(procs), .metavar = "auto|PxQxR",                                                            \
    .help = "Ranks along i, j and k. auto takes the cheapest exchange by model."                             \
  }

#define RANKS_OPTION_TIMEOUT(reads)                                                                          \
  {                                                                                                          \
    .name = "timeout", .readers = (reads), .type = OPTION_REAL, .min = 0.1, .max = 1e6,                      \
    .offset = AT(timeout), .metavar = "SECONDS",                                                             \
    .help = "Longest wait for another rank (default 60). Past it the job ends with exit status 6 and says "  \
            "who waits for whom."                                                                            \
  }

#endif
