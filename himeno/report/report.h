/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What himeno-gpu shows: a text to read, and one JSON document. Rank 0 only. */
#ifndef HIMENO_REPORT_REPORT_H
#define HIMENO_REPORT_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "himeno/run.h"

/** \brief The report for people. */
void himeno_report_text(const struct himeno_run *run, FILE *out);

/** \brief The document of doc/result.schema.json; NULL when memory ran out. */
json_t *himeno_report_json(const struct himeno_run *run);

/** \brief What a rank's device told of itself; null where nothing answers. */
json_t *himeno_telemetry_json(const struct himeno_run *run, int rank);

/** \brief Ranks slower than chance explains. */
json_t *himeno_stragglers_json(const struct himeno_run *run);

/** \brief Counts of an emulator, which stand in for speed, and what bounds the part that it stands for. */
void himeno_counts_text(const struct himeno_run *run, FILE *out);
json_t *himeno_counts_json(const struct himeno_counts *counts);
void himeno_bound_text(const struct himeno_counts *counts, FILE *out);
json_t *himeno_bound_json(const struct himeno_counts *counts);

/** \brief Instructions issued for 16 points of a sweep. */
double himeno_vector_instructions(const struct himeno_counts *counts);

/** \brief A rung's counts, in the columns of the ladder's table. */
void himeno_rung_counts_text(const struct himeno_counts *counts, FILE *out);

/** \brief --list: backends, devices, kernels and transports, with reasons. */
void himeno_report_list(FILE *out);

#endif
