/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a soak found, in words and in JSON. */
#ifndef HIMENO_SOAK_REPORT_H
#define HIMENO_SOAK_REPORT_H

#include <stdio.h>

#include "base/document.h"
#include "himeno/result.h"
#include "suite/worth.h"

/** \brief "a3 has 3 wrong points, first (10, 20, 30): … must be …, 1 bit" into \a text. Returns
 * it. */
const char *soak_corruption_text(const struct soak_corruption *corruption, char *text, size_t size);

/** \brief The list \a name of \a n corruptions. */
void soak_found_document(struct doc *d, const char *name, const struct soak_found *found, int n);

/** \brief The soak's part of the report; fields were checked every \a every passes. Rank 0. */
void soak_text(const struct soak_result *result, const struct worth *worth, const struct himeno_ranks *ranks,
               FILE *out);
void soak_document(struct doc *d, const struct soak_result *result, const struct worth *worth, int64_t every);

/** \brief What it is worth if nothing was found in so many \a seconds of sweeps. */
struct worth soak_worth(const struct soak_result *result, const struct himeno_ranks *ranks, double seconds);

#endif
