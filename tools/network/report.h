/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What comm-gpu shows: a text to read, and one JSON document. Rank 0 only. */
#ifndef TOOLS_NETWORK_REPORT_H
#define TOOLS_NETWORK_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "tools/network/bench.h"

/** \brief The report for people. */
void bench_report_text(const struct bench *bench, FILE *out);

/** \brief The document of doc/comm.schema.json; NULL when memory ran out. */
json_t *bench_report_json(const struct bench *bench);

/** \brief --list: devices, transports, network cards, with reasons. */
void bench_report_list(FILE *out);

#endif
