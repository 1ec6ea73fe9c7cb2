/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Which step of the latency curves is which cache, and which is the reach of a TLB.
 *
 * Caches hold lines and TLBs hold pages. On a curve of a wider stride a cache ends at a footprint
 * that is wider by as much, since as many lines were touched; the reach of a TLB stays where it
 * is. */
#ifndef TOOLS_MEMORY_LEVELS_H
#define TOOLS_MEMORY_LEVELS_H

#include <stddef.h>
#include <stdint.h>

/* ---- steps: where a curve rises from one level to the next ---- */

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

/* ---- levels ---- */

#define LEVELS_MAX 16

/** A measured curve: `n` latencies over rising footprints with one stride. */
struct levels_curve {
  uint64_t stride;
  int n;
  const uint64_t *bytes;
  const double *ns;
  /* found: */
  struct steps_plateau plateaus[STEPS_PLATEAUS_MAX];
  int n_plateaus;
};

enum levels_kind { LEVELS_CACHE, LEVELS_MEMORY, LEVELS_TLB };

/** A level of the memory, or the reach of a TLB. */
struct levels_level {
  enum levels_kind kind;
  char name[16];       /**< "L1", "L2", "DRAM", "TLB 1" … */
  double ns;           /**< latency in a cache or in memory; what a miss of a TLB adds */
  uint64_t bytes;      /**< largest footprint that was still on this level, 0 for memory */
  uint64_t next_bytes; /**< smallest footprint that was on the next one, 0 for memory */
  uint64_t stride;     /**< of the curve that shows it */
};

/** \brief Finds plateaus on all curves and names them. \a line: bytes of a cache line; \a cache:
 * the last cache as the device reports it, 0 if unknown. Returns how many levels were found: caches
 * in order, memory, TLBs in order. */
int levels_find(struct levels_curve *curves, int n, uint64_t line, uint64_t cache, int is_cpu,
                struct levels_level levels[LEVELS_MAX]);

#endif
