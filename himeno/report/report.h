/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What himeno-gpu shows: a text to read, and one JSON document. Rank 0 only. */
#ifndef HIMENO_REPORT_REPORT_H
#define HIMENO_REPORT_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "himeno/choice.h"
#include "himeno/result.h"

struct himeno_ladder;

/** \brief The report for people. */
void himeno_report_text(const struct himeno_config *config, const struct himeno_choice *choice,
                        const struct himeno_result *result, FILE *out);

/** \brief The document of doc/result.schema.json; NULL when memory ran out. */
json_t *himeno_report_json(const struct himeno_config *config, const struct himeno_choice *choice,
                           const struct himeno_result *result);

/** \brief A ladder's table, or the rest of it, and the document of doc/ladder.schema.json; NULL
 * when memory ran out. */
void himeno_ladder_text(const struct himeno_config *config, const struct himeno_choice *choice,
                        struct himeno_ladder *ladder, FILE *out);
json_t *himeno_ladder_json(const struct himeno_config *config, const struct himeno_choice *choice,
                           const struct himeno_ladder *ladder);

/** \brief The lines of the first \a n rungs that have not been shown yet. */
void himeno_ladder_rungs_text(const struct himeno_config *config, const struct himeno_choice *choice,
                              struct himeno_ladder *ladder, int n, FILE *out);

/** \brief What a rank's device told of itself; null where nothing answers. */
json_t *himeno_telemetry_json(const struct himeno_result *result, int rank);

/** \brief By how much each counter rose; null where it cannot be read. */
json_t *himeno_counted_json(const struct record_telemetry *telemetry);

/** \brief What sweeps cost by devices' energy counters; nothing, or null, without any. */
void himeno_energy_text(const struct himeno_result *result, FILE *out);
json_t *himeno_energy_json(const struct himeno_result *result);
json_t *himeno_rank_energy_json(const struct himeno_rank *rank);

/** \brief Ranks slower than chance explains. */
json_t *himeno_stragglers_json(const struct himeno_result *result);
json_t *himeno_episodes_json(const struct himeno_result *result);
json_t *himeno_series_json(const struct himeno_result *result);

/** \brief Counts of an emulator, which stand in for speed, and what bounds the part that it stands
 * for. */
void himeno_counts_text(const struct himeno_result *result, FILE *out);
json_t *himeno_counts_json(const struct himeno_counts *counts);
void himeno_bound_text(const struct himeno_counts *counts, FILE *out);
json_t *himeno_bound_json(const struct himeno_counts *counts);

/** \brief A rung's counts, in the columns of the ladder's table. */
void himeno_rung_counts_text(const struct himeno_counts *counts, FILE *out);

/** \brief --list: backends, devices, kernels and transports, with reasons. */
void himeno_report_list(const struct gpu_backend *asked, FILE *out);

#endif
