/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What himeno-gpu shows: a text to read, and one JSON document. Rank 0 only. */
#ifndef HIMENO_REPORT_REPORT_H
#define HIMENO_REPORT_REPORT_H

#include <stdio.h>

#include "base/document.h"
#include "himeno/config/choice.h"
#include "himeno/result/result.h"
#include "judge/judge.h"
#include "suite/worth.h"

/** \brief The report for people. */
void himeno_report_text(const struct himeno_choice *choice, const struct himeno_result *result,
                        const struct judged *judged, FILE *out);

/** \brief The document of doc/result.schema.json, before it is judged. */
void himeno_document(struct doc *d, const struct himeno_choice *choice, const struct himeno_result *result);

/** \brief A ladder's table, or the rest of it, and the document of doc/ladder.schema.json. */
void himeno_ladder_text(const struct himeno_choice *choice, struct himeno_ladder *ladder, FILE *out);
void himeno_ladder_document(struct doc *d, const struct himeno_choice *choice,
                            const struct himeno_ladder *ladder);

/* Fields of both documents: of the grid, and of a kernel. */
void himeno_grid_document(struct doc *d, const struct himeno_choice *choice);
void himeno_kernel_document(struct doc *d, const struct himeno_kernel *kernel);

/** \brief The lines of the first \a n rungs that have not been shown yet. */
void himeno_ladder_rungs_text(const struct himeno_choice *choice, struct himeno_ladder *ladder, int n,
                              FILE *out);

/* Parts of the document of a run, each a field. */
void himeno_telemetry_document(struct doc *d, const struct himeno_ranks *ranks, int rank);
void himeno_counted_document(struct doc *d, const struct record_telemetry *telemetry);
void himeno_series_document(struct doc *d, const struct himeno_ranks *ranks, int n_samples);

/** \brief What sweeps cost by devices' energy counters; nothing, or null, without any. */
void himeno_energy_text(const struct himeno_ranks *ranks, FILE *out);
void himeno_energy_document(struct doc *d, const struct himeno_ranks *ranks);
void himeno_rank_energy_document(struct doc *d, const struct himeno_rank *rank);

/** \brief Counts of an emulator, instead of speed, and the bound of the part that it emulates; no
 * field for NULL. */
void himeno_counts_text(const struct himeno_counts *counts, const struct himeno_timing *timing, FILE *out);
void himeno_counts_document(struct doc *d, const struct himeno_counts *counts);
void himeno_bound_text(const struct himeno_counts *counts, FILE *out);
void himeno_bound_document(struct doc *d, const struct himeno_counts *counts);

/** \brief A rung's counts, in the columns of the ladder's table. */
void himeno_rung_counts_text(const struct himeno_counts *counts, FILE *out);

/* ---- a soak ---- */

/** \brief "a3 has 3 wrong points, first (10, 20, 30): … must be …, 1 bit" into \a text. Returns
 * it. */
const char *soak_corruption_text(const struct soak_corruption *corruption, char *text, size_t size);

/** \brief The list \a name of \a n corruptions. */
void soak_found_document(struct doc *d, const char *name, const struct soak_found *found, int n);

/** \brief The soak's part of the report; fields were checked every \a every passes. */
void soak_text(const struct soak_result *result, const struct worth *worth, const struct himeno_ranks *ranks,
               FILE *out);
void soak_document(struct doc *d, const struct soak_result *result, const struct worth *worth, int64_t every);

/** \brief What it is worth if nothing was found in so many \a seconds of sweeps. */
struct worth soak_worth(const struct soak_result *result, const struct himeno_ranks *ranks, double seconds);

/** \brief --list: backends, devices, kernels and transports, with reasons. */
void himeno_report_list(const struct gpu_backend *asked, FILE *out);

#endif
