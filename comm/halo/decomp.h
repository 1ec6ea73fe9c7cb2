/* SPDX-License-Identifier: MIT */
/** \file
 * \brief How the grid is cut: P×Q×R ranks, each with a box of interior points and the layers around
 * it.
 *
 * Global indices run over the whole grid, boundary included; interior points of dimension d are 1 …
 * global[d]−2. A rank *owns* the interior points [lo, hi). Its local array holds them, `depth`
 * layers of each neighbour, and the single fixed layer where the grid ends. */
#ifndef COMM_HALO_DECOMP_H
#define COMM_HALO_DECOMP_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/** Half-open box of indices; k is dimension 2 and contiguous. */
struct box {
  int64_t lo[3], hi[3];
};

static inline int64_t box_extent(const struct box *b, int d)
{
  return b->hi[d] > b->lo[d] ? b->hi[d] - b->lo[d] : 0;
}
static inline int64_t box_points(const struct box *b)
{
  return box_extent(b, 0) * box_extent(b, 1) * box_extent(b, 2);
}

struct decomp {
  int procs[3];
  int coord[3]; /**< this rank's place: rank = (coord[0]·Q + coord[1])·R + coord[2] */
  int64_t global[3];
  struct box owned; /**< interior points of this rank, global indices */
};

/** A kernel's constraints on the decomposition. */
struct decomp_rules {
  /** halo depth T: every rank keeps at least T points in each dimension that is cut */
  int depth;
  int whole_planes; /**< only i may be cut */
  int whole_rows;   /**< k may not be cut */
};

/** \brief Chooses P×Q×R for \a ranks by the least modelled exchange time. STATUS_USAGE when no cut
 * leaves each rank its points. `global` is the grid, or with \a weak the grid of one rank. */
status_t decomp_choose(int ranks, const int64_t global[3], int weak, const struct decomp_rules *rules,
                       int procs[3]);

/** \brief Checks a cut that the user gave: it must multiply to \a ranks and leave each rank its
 * points. */
status_t decomp_check(int ranks, const int64_t global[3], const int procs[3],
                      const struct decomp_rules *rules);

/** \brief The cut of a run, \a wanted or chosen where its first is 0, and the grid of all ranks.
 * STATUS_USAGE as both of the above. */
status_t decomp_cut(int ranks, const int64_t extent[3], int weak, const struct decomp_rules *rules,
                    const int wanted[3], int procs[3], int64_t global[3]);

/** \brief The part of \a rank. The cut must have been checked. */
void decomp_init(struct decomp *decomp, const int64_t global[3], const int procs[3], int rank);

/** \brief Rank in direction \a dir (−1, 0, 1 a dimension), −1 outside of the grid. */
int decomp_neighbour(const struct decomp *decomp, const int dir[3]);

/** The local array. Element (i, j, k) is at offset i·plane + j·pitch + k, in floats. */
struct layout {
  int64_t origin[3]; /**< global index of local (0, 0, 0) */
  int64_t extent[3]; /**< points held, layers around included */
  int64_t pitch;     /**< floats from row to row: a multiple of 32 */
  int64_t plane;     /**< floats from plane to plane */
  struct box owned;  /**< owned interior points, local indices */
  /** owned and the fixed layers at its sides: what the checksum sums; local */
  struct box counted;
  struct box interior; /**< where the sweep applies at all, clipped to the array: local indices */
  int64_t global[3];
};

/** \brief Local array for a halo of \a depth; \a pad adds at least that many floats to the pitch,
 * so that rows stay on 128-byte boundaries. STATUS_USAGE on overflow. */
status_t layout_init(struct layout *layout, const struct decomp *decomp, int depth, int pad);

/** \brief Floats of one array, including the pitch's padding. */
static inline int64_t layout_floats(const struct layout *layout)
{
  return layout->plane * layout->extent[0];
}

#endif
