/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a device said after each timed block, in a bounded number of rows.
 *
 * A row is a block while all have room. When they have none, two neighbours become one row with the
 * worse of each value, again and again: a long run loses resolution, and no hot hour. */
#ifndef SUITE_SERIES_H
#define SUITE_SERIES_H

#include "gpu/telemetry.h"

/** Rows of a rank at most; where ranks are so many that all rows would be more than
 * SERIES_ROWS_ALL, each has fewer. */
#define SERIES_ROWS_MAX 1024
#define SERIES_ROWS_MIN 8
#define SERIES_ROWS_ALL 16384

struct series {
  int most;   /**< rows, even */
  int each;   /**< blocks a row; the last row may have fewer */
  int blocks; /**< so far */
  struct telemetry_sample rows[SERIES_ROWS_MAX];
};

/** \brief An empty series of one of \a ranks ranks. */
void series_open(struct series *series, int ranks);

void series_add(struct series *series, const struct telemetry_sample *sample);

int series_rows(const struct series *series);

/** \brief The worse of two samples into \a worst: most watts and degrees, least clocks, all
 * reasons. */
void series_worst(struct telemetry_sample *worst, const struct telemetry_sample *other);

#endif
