/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What himeno-gpu shows: a text to read, and one JSON document. Rank 0 only. */
#ifndef HIMENO_REPORT_H
#define HIMENO_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "himeno/run.h"

/** \brief The report for people. */
void himeno_report_text(const struct himeno_run *run, FILE *out);

/** \brief The document of doc/result.schema.json; NULL when memory ran out. */
json_t *himeno_report_json(const struct himeno_run *run);

/** \brief --list: backends, devices, kernels and transports, with reasons. */
void himeno_report_list(FILE *out);

#endif
