/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Assigns the steps of the latency curves to caches and to the reaches of TLBs.
 *
 * Caches hold lines and TLBs hold pages. On a curve with a wider stride a cache ends at a
 * proportionally larger footprint, because the number of lines is the same. The reach of a TLB
 * stays at the same footprint. */
#ifndef TOOLS_MEMORY_LEVELS_H
#define TOOLS_MEMORY_LEVELS_H

#include <stddef.h>
#include <stdint.h>

/* ---- steps: where a curve rises from one level to the next ---- */

#define STEPS_PLATEAUS_MAX 12

/** A part of a curve with about constant latency. */
struct steps_plateau {
  int first, last; /**< indices of its first and last point */
  double level;    /**< median latency of these points */
};

/** \brief Finds the plateaus of \a n latencies \a y over rising footprints, and lists them in that
 * order. Returns their number.
 *
 * The logarithms of the latencies are divided into constant segments with the least sum of squares
 * plus a penalty per segment (optimal partitioning; Jackson et al., "An algorithm for optimal
 * partitioning of data on an interval", 2005). The penalty grows with the noise of the curve.
 * Segments of fewer than three points, and short ones that rise, are ramps. Neighbouring plateaus
 * that hardly differ are joined, and a segment below the previous plateau is added to it. Steps of
 * at least 8% are found if three or more points are on each side. */
int steps_find(const double *y, int n, struct steps_plateau plateaus[STEPS_PLATEAUS_MAX]);

/** \brief Fits y = far − near / footprint to the latencies of a plateau, as for a TLB with random
 * replacement that misses more and more. Returns 1, and sets \a far and \a near, if the formula
 * explains most of the variance between the plateau's ends. */
int steps_approach(const uint64_t *bytes, const double *y, const struct steps_plateau *plateau, double *far,
                   double *near);

/* ---- levels ---- */

#define LEVELS_MAX 16

/** A measured curve: `n` latencies over rising footprints with one stride. */
struct levels_curve {
  uint64_t stride;
  int n;
  const uint64_t *bytes;
  const double *ns;
  /* results: */
  struct steps_plateau plateaus[STEPS_PLATEAUS_MAX];
  int n_plateaus;
};

enum levels_kind { LEVELS_CACHE, LEVELS_MEMORY, LEVELS_TLB };

/** A level of the memory, or the reach of a TLB. */
struct levels_level {
  enum levels_kind kind;
  char name[16];       /**< "L1", "L2", "DRAM", "TLB 1" … */
  double ns;           /**< latency of a cache or memory; for a TLB the added latency of a miss */
  uint64_t bytes;      /**< largest footprint that is still on this level, 0 for memory */
  uint64_t next_bytes; /**< smallest footprint on the next level, 0 for memory */
  uint64_t stride;     /**< stride of the curve that shows it */
};

/** \brief Finds the plateaus of all curves and the levels that they show. \a line is the size of a
 * cache line, and \a cache the size of the last cache as reported by the device (0 if unknown), in
 * bytes. Returns the number of levels: caches by size, memory, TLBs by reach. */
int levels_find(struct levels_curve *curves, int n, uint64_t line, uint64_t cache, int is_cpu,
                struct levels_level levels[LEVELS_MAX]);

#endif
