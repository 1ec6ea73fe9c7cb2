/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Decomposition of the grid: P×Q×R ranks, each with a box of interior points and the layers
 * around it.
 *
 * Global indices run over the whole grid, boundary included; interior points of dimension d are 1 …
 * global[d]−2. A rank *owns* the interior points [lo, hi). Its local array contains these points
 * and, on each side, `depth` halo layers if there is a neighbour or one fixed layer at the end of
 * the grid. */
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
  int procs[3];      /**< P, Q, R: number of ranks per dimension */
  int coord[3];      /**< this rank's coordinates: rank = (coord[0]·Q + coord[1])·R + coord[2] */
  int64_t global[3]; /**< points of the whole grid, boundary included */
  struct box owned;  /**< interior points that this rank owns, global indices */
};

/** A kernel's constraints on the decomposition. */
struct decomp_rules {
  /** halo depth T: every rank has at least T points in each divided dimension */
  int depth;
  int whole_planes; /**< only dimension i may be divided */
  int whole_rows;   /**< dimension k may not be divided */
};

/** \brief Sets \a procs to the decomposition P×Q×R of \a ranks with the shortest modelled exchange
 * time. \a global has the extents of the whole grid, or of the grid per rank if \a weak is 1.
 * Returns STATUS_USAGE if no decomposition satisfies \a rules. */
status_t decomp_choose(int ranks, const int64_t global[3], int weak, const struct decomp_rules *rules,
                       int procs[3]);

/** \brief Checks the decomposition \a procs of a user. Returns STATUS_USAGE unless the product of
 * \a procs is \a ranks, each rank has enough points, and \a rules are satisfied. */
status_t decomp_check(int ranks, const int64_t global[3], const int procs[3],
                      const struct decomp_rules *rules);

/** \brief Sets \a procs to \a wanted, or to the result of decomp_choose if wanted[0] is 0. Sets \a
 * global to the extents of the whole grid. \a extent has the extents of the whole grid, or of the
 * grid per rank if \a weak is 1. Returns STATUS_USAGE if decomp_choose or decomp_check does. */
status_t decomp_cut(int ranks, const int64_t extent[3], int weak, const struct decomp_rules *rules,
                    const int wanted[3], int procs[3], int64_t global[3]);

/** \brief Computes the part of the grid that \a rank owns. The decomposition must be valid. */
void decomp_init(struct decomp *decomp, const int64_t global[3], const int procs[3], int rank);

/** \brief Returns the rank of the neighbour in direction \a dir (−1, 0 or 1 per dimension), or −1
 * if \a dir leaves the grid. */
int decomp_neighbour(const struct decomp *decomp, const int dir[3]);

/** Shape of a rank's local array. Element (i, j, k) has index i·plane + j·pitch + k. */
struct layout {
  int64_t origin[3]; /**< global index of local (0, 0, 0) */
  int64_t extent[3]; /**< points per dimension, including halo and fixed layers */
  int64_t pitch;     /**< floats from row to row: a multiple of 32 */
  int64_t plane;     /**< floats from plane to plane */
  struct box owned;  /**< interior points that this rank owns, local indices */
  /** owned points and adjacent fixed layers, over which the checksum is computed; local indices */
  struct box counted;
  /** interior points of the grid in this array, including those in the halo; local indices */
  struct box interior;
  int64_t global[3];
};

/** \brief Computes the shape of the local array with a halo of \a depth layers. The pitch is the
 * extent along k plus \a pad, rounded up to a multiple of 32 floats. Returns STATUS_USAGE on
 * overflow. */
status_t layout_init(struct layout *layout, const struct decomp *decomp, int depth, int pad);

/** \brief Returns the number of floats of one array, including padding. */
static inline int64_t layout_floats(const struct layout *layout)
{
  return layout->plane * layout->extent[0];
}

#endif
