/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The command line of comm-gpu. */
#ifndef TOOLS_NETWORK_CMDLINE_H
#define TOOLS_NETWORK_CMDLINE_H

#include "base/options.h"
#include "tools/network/bench.h"

/** Options into struct bench_config. */
extern const struct option_program bench_options;

/** \brief Names what was given and what was asked for never reads, once ranks are known. */
void bench_cmdline_ignore(const struct bench_config *config);

/** Names of the bits of enum bench_part. */
extern const char *const bench_part_names[BENCH_PARTS];

#endif
