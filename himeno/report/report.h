/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Output of himeno-gpu on rank 0: a report for people, and one JSON document. */
#ifndef HIMENO_REPORT_REPORT_H
#define HIMENO_REPORT_REPORT_H

#include <stdio.h>

#include "base/document.h"
#include "himeno/config/choice.h"
#include "himeno/result/result.h"
#include "judge/judge.h"
#include "suite/worth.h"

/** \brief Prints the report. */
void himeno_report_text(const struct himeno_choice *choice, const struct himeno_result *result,
                        const struct judged *judged, FILE *out);

/** \brief Writes the document of doc/result.schema.json, before it is judged. */
void himeno_document(struct doc *d, const struct himeno_choice *choice, const struct himeno_result *result);

/** \brief Print a ladder's table, or the part not shown yet, and write the document of
 * doc/ladder.schema.json. */
void himeno_ladder_text(const struct himeno_choice *choice, struct himeno_ladder *ladder, FILE *out);
void himeno_ladder_document(struct doc *d, const struct himeno_choice *choice,
                            const struct himeno_ladder *ladder);

/* Write fields that the documents of runs and of ladders share: the grid, and a kernel. */
void himeno_grid_document(struct doc *d, const struct himeno_choice *choice);
void himeno_kernel_document(struct doc *d, const struct himeno_kernel *kernel);

/** \brief Prints those of the first \a n rungs that have not been shown yet. */
void himeno_ladder_rungs_text(const struct himeno_choice *choice, struct himeno_ladder *ladder, int n,
                              FILE *out);

/* Write parts of a run's document, one field each. */
void himeno_telemetry_document(struct doc *d, const struct himeno_ranks *ranks, int rank);
void himeno_counted_document(struct doc *d, const struct record_telemetry *telemetry);
void himeno_series_document(struct doc *d, const struct himeno_ranks *ranks);

/** \brief Print or write the energy of the sweeps by the devices' counters. Without counters, print
 * nothing or write null. */
void himeno_energy_text(const struct himeno_ranks *ranks, FILE *out);
void himeno_energy_document(struct doc *d, const struct himeno_ranks *ranks);
void himeno_rank_energy_document(struct doc *d, const struct himeno_rank *rank);

/** \brief Print or write the counts of an emulator, and the bound that they give for the emulated
 * chip. If \a counts is NULL, write no field. */
void himeno_counts_text(const struct himeno_counts *counts, const struct himeno_timing *timing, FILE *out);
void himeno_counts_document(struct doc *d, const struct himeno_counts *counts);
void himeno_bound_text(const struct himeno_counts *counts, FILE *out);
void himeno_bound_document(struct doc *d, const struct himeno_counts *counts);

/** \brief Prints a rung's counts in the columns of the ladder's table. */
void himeno_rung_counts_text(const struct himeno_counts *counts, FILE *out);

/** \brief Writes "a3 has 3 wrong points, first (10, 20, 30): … must be …, 1 bit". Returns text. */
const char *soak_corruption_text(const struct soak_corruption *corruption, char *text, size_t size);

/** \brief Writes the list \a name of \a n corruptions. */
void soak_found_document(struct doc *d, const char *name, const struct soak_found *found, int n);

/** \brief Prints the soak's part of the report; fields were checked every \a every passes. */
void soak_text(const struct soak_result *result, const struct worth *worth, const struct himeno_ranks *ranks,
               FILE *out);
void soak_document(struct doc *d, const struct soak_result *result, const struct worth *worth, int64_t every);

/** \brief Returns the evidence of a soak that found nothing wrong in \a seconds of sweeps. */
struct worth soak_worth(const struct soak_result *result, const struct himeno_ranks *ranks, double seconds);

/** \brief Prints --list: backends, devices, kernels and transports, or why they are missing. */
void himeno_report_list(const struct gpu_backend *asked, FILE *out);

#endif
