/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The command line of comm-gpu. */
#ifndef TOOLS_NETWORK_CMDLINE_H
#define TOOLS_NETWORK_CMDLINE_H

#include "base/options.h"
#include "tools/network/bench.h"

extern const struct option_program bench_options;

/** \brief Parses and checks argv. STATUS_USAGE. */
status_t bench_cmdline_parse(int argc, char **argv, struct bench_config *config,
                             enum option_request *request);

/** \brief Names what was given and what was asked for never reads, once ranks are known. */
void bench_cmdline_ignore(const struct bench_config *config);

/** \brief Name of a part: "host", "pairs", "halo", "allreduce". */
const char *bench_part_name(enum bench_part part);

#endif
