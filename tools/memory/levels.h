/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Which step of the latency curves is which cache, and which is the reach of a TLB.
 *
 * Caches hold lines and TLBs hold pages. On a curve of a wider stride a cache ends at a footprint
 * that is wider by as much, since as many lines were touched; the reach of a TLB stays where it
 * is. */
#ifndef TOOLS_MEMORY_LEVELS_H
#define TOOLS_MEMORY_LEVELS_H

#include <stdint.h>

#include "tools/memory/steps.h"

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
