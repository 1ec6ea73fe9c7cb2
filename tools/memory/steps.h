/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Where a latency curve rises from one level of the memory to the next. */
#ifndef TOOLS_MEMORY_STEPS_H
#define TOOLS_MEMORY_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define STEPS_PLATEAUS_MAX 12

/** A level part of a curve. */
struct steps_plateau {
  int first, last; /**< its points */
  double level;    /**< their median */
};

/** \brief Finds the plateaus of \a n latencies \a y over rising footprints, in their order; returns
 * how many.
 *
 * The logarithms are cut into constant pieces with the least sum of squares plus a price for each
 * piece (optimal partitioning; Jackson et al., "An algorithm for optimal partitioning of data on an
 * interval", 2005). The price follows the noise of the curve. Pieces of fewer than three points,
 * and short ones that rise, are ramps; neighbours that hardly differ, and what falls back below an
 * earlier level, are one plateau. Steps from 8% up are found where three points or more lie on each
 * side. */
int steps_find(const double *y, int n, struct steps_plateau plateaus[STEPS_PLATEAUS_MAX]);

/** \brief Whether the latencies of one plateau come nearer and nearer to \a far: y = far − near /
 * footprint, as when a table that is replaced at random misses more and more. It must explain most
 * of the variance between the plateau's ends. */
int steps_approach(const uint64_t *bytes, const double *y, const struct steps_plateau *plateau, double *far,
                   double *near);

/** Two groups of values, as those of a cache with a near and a far half. */
struct steps_split {
  double low, high; /**< medians of the groups */
  double share;     /**< of the low one */
};

/** \brief Whether \a n values fall into two groups: Otsu's threshold (1979), which must explain
 * most of the variance, with medians at least 15% apart and a tenth of the values on each side. The
 * outermost fiftieth at either end is left out. Sorts the values. */
int steps_split(double *values, size_t n, struct steps_split *split);

#endif
