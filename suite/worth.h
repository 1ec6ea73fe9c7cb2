/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Evidence from a run without wrong blocks: the fault rate that it excludes, and the load
 * that the devices were under. */
#ifndef SUITE_WORTH_H
#define SUITE_WORTH_H

#include <stdio.h>

#include "base/document.h"

struct worth {
  double days; /**< device-days of work whose results were compared */
  /** lowest median power of a device over its limit; INFINITY before worth_add, NAN if unknown */
  double share;
  int wrong; /**< number of wrong blocks */
};

/** A device below this share of its power limit was not stressed. */
#define WORTH_STRESSED 0.9

/** \brief Returns the median of \a n power samples over the limit; NAN if either is unknown. */
double worth_share(const double *watts, int n, int watts_limit);

/** \brief Adds another device's share, which may be NAN. */
void worth_add(struct worth *worth, double share);

/** \brief Returns the rate, in wrong blocks per 1000 device-days, that a run without wrong blocks
 * excludes with 95% confidence, by the Poisson law: −ln(0.05) over the device-days. Infinite if a
 * block was wrong. */
double worth_excluded(const struct worth *worth);

/** \brief Prints two lines, or nothing if a block was wrong. */
void worth_text(const struct worth *worth, FILE *out);

/** \brief Writes device_days, excluded_per_1000_device_days, power_share; \a rules: enum
 * doc_rules. */
void worth_document(struct doc *d, int rules, const struct worth *worth);

#endif
