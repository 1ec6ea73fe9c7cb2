/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The command line of comm-gpu. */
#ifndef TOOLS_NETWORK_CMDLINE_H
#define TOOLS_NETWORK_CMDLINE_H

#include "base/options.h"
#include "tools/network/bench.h"

extern const struct option_program bench_options;

/** \brief Warns about options that the user gave but the requested parts ignore. Call it when the
 * number of ranks is known. */
void bench_cmdline_ignore(const struct bench_config *config);

/** Names of the bits of enum bench_part. */
extern const char *const bench_part_names[BENCH_PARTS];

#endif
