/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a soak found, in words and in JSON. */
#ifndef HIMENO_SOAK_REPORT_H
#define HIMENO_SOAK_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "himeno/result.h"

/** \brief "a3 has 3 wrong points, first (10, 20, 30): … must be …, 1 bit" into \a text. Returns
 * it. */
const char *soak_corruption_text(const struct soak_corruption *corruption, char *text, size_t size);

json_t *soak_found_json(const struct soak_found *found);

/** \brief The soak's part of the report; fields were checked every \a every passes. Rank 0. */
void soak_text(const struct himeno_result *result, FILE *out);
json_t *soak_json(const struct himeno_result *result, int64_t every);

/** Below this share of its power limit a device was not stressed. */
#define SOAK_STRESSED 0.9

/** \brief Wrong blocks of a device in 1000 days of sweeping that a clean soak excludes at 95%, by
 * the Poisson law: −ln(0.05) over its device-days. Infinite where a block was wrong. */
double soak_excluded(const struct himeno_result *result);

/** \brief The median power of the device that is least at its limit, as a share of that; NAN where
 * one does not tell. */
double soak_power_share(const struct himeno_result *result);

#endif
