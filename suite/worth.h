/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What work without a fault is worth: which rate of faults it excludes, and how hard it
 * was. */
#ifndef SUITE_WORTH_H
#define SUITE_WORTH_H

#include <stdio.h>

#include "base/document.h"

struct worth {
  double days; /**< of work that was compared, over devices */
  /** of the power limit, the least device's; INFINITY before the first, NAN: one is untold */
  double share;
  int wrong; /**< blocks */
};

/** Below this share of its power limit a device was not stressed. */
#define WORTH_STRESSED 0.9

/** \brief The median of \a n samples of power as a share of the limit; NAN where either is
 * unknown. */
double worth_share(const double *watts, int n, int watts_limit);

/** \brief Another device's share, which may be NAN. */
void worth_add(struct worth *worth, double share);

/** \brief Wrong blocks of a device in 1000 days that clean work excludes at 95%, by the Poisson
 * law: −ln(0.05) over its device-days. Infinite where a block was wrong. */
double worth_excluded(const struct worth *worth);

/** \brief Two lines, none where a block was wrong; the days are of \a what. */
void worth_text(const struct worth *worth, FILE *out);

/** \brief The fields device_days, excluded_per_1000_device_days and power_share, by \a rules. */
void worth_document(struct doc *d, int rules, const struct worth *worth);

#endif
