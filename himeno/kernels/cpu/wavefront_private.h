/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a pass and the march of its threads share. */
#ifndef HIMENO_KERNELS_CPU_WAVEFRONT_PRIVATE_H
#define HIMENO_KERNELS_CPU_WAVEFRONT_PRIVATE_H

#include "himeno/kernels/cpu/wavefront.h"

#define RING   3 /* planes of a level: the next one reads three */
#define BORDER 2 /* rows of a level that the next tile needs */

/** Blocks that a thread has before it, counted chunk by chunk and tile by tile. */
struct run {
  int64_t from, to;
};

/** Rows, by their first point, that the next step reads for the first time. Rows that are swept in
 * this step fetch them in even shares. */
struct fetch {
  const float **rows;
  int64_t n, shares, share;
};

struct worker {
  struct run run;
  struct fetch fetch;
  float *rings; /* sweeps − 1 levels of RING planes of a tile */
  /* sweeps − 1 levels of BORDER rows a plane of a chunk */
  float *border;
  /* of the last planes of each level, by the plane's number */
  double plane_gosa[CPU_WAVEFRONT_SWEEPS][8];
  char apart[64];
};

struct cpu_wavefront {
  struct layout layout;
  const struct cpu_simd *simd;
  int sweeps, threads;
  int fetches;                   /* whether steps fetch for the next one */
  int64_t rows;                  /* of a tile, at most */
  int64_t chunks, tiles, blocks; /* of the pass, of a chunk, of a tile */
  double *gosa;                  /* of a block, level by level */
  struct worker *workers;
};

/** What a thread is at. */
struct march {
  struct cpu_wavefront *w;
  const struct cpu_sweep *sweep;
  struct worker *me;
  int64_t lo, hi;              /* rows of the tile that are written */
  int64_t first, end;          /* planes of the block that are written */
  int64_t start;               /* the march's first plane */
  int64_t chunk_lo, chunk_end; /* planes of the chunk */
  int fresh;                   /* the border store does not hold what the tile before left */
};

static inline int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static inline int64_t most(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static inline int64_t divide_up(int64_t n, int64_t by)
{
  return (n + by - 1) / by;
}

/* Where part `index` of `of` begins, when n elements from `lo` on are shared evenly. */
static inline int64_t part(int64_t lo, int64_t n, int64_t index, int64_t of)
{
  return lo + n * index / of;
}

static inline int64_t ring_plane(const struct cpu_wavefront *w)
{
  return (w->rows + 2 * (w->sweeps - 1)) * w->layout.pitch;
}

/** \brief Marches through the planes of a block, and sets its gosa, level by level. */
void cpu_wavefront_block(const struct march *march, double *gosa);

#endif
