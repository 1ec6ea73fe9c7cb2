/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Work and messages of one rank, by default the busiest one. They come from himeno-gpu's own
 * decomposition and halo plan, or from gemm-gpu's grid and panels (workload.h). */
#ifndef TOOLS_PREDICT_GEOMETRY_H
#define TOOLS_PREDICT_GEOMETRY_H

#include "tools/predict/study.h"

struct geometry {
  int ranks, hosts, depth;
  int sharers; /**< number of ranks on the rank's memory or device; 0: unknown, treated as 1 */
  /** share of the time in which computing and exchange may overlap: 1 or 0; for a product, the
   * share of the panels after the first */
  double overlap;
  double launches; /**< kernel launches: 1; for a product one per pair of slices */
  double rounds;   /**< consecutive exchanges: 1; for a product the steps of all panels */
  struct study_product product;
  double part[3]; /**< for a product: m, n and k of one launch */
  /** sets the geometry of another rank; \a all is the geometry of any rank of the same grid */
  status_t (*of_rank)(const struct geometry *all, int rank, int per_host, struct geometry *geometry);
  int64_t global[3];
  int procs[3];
  double all_points; /**< interior points of the grid */
  double points;     /**< points of the rank */
  /** points computed while halos travel; all points if there are no neighbours or no overlap */
  double inner;
  double row;            /**< length of a row of `inner` along k */
  double slab_points[3]; /**< points of the slabs per cut dimension */
  int slabs;
  int neighbours;
  /** messages and bytes by destination: per exchange, or of a whole product */
  double messages[STUDY_WHERES], bytes[STUDY_WHERES];
  double host_bytes; /**< bytes that all ranks of the rank's host send within the host */
};

/** \brief Sets the geometry of the busiest rank. This is the rank with most messages to other
 * hosts; among equals, the one with most messages, then with most points. Ranks fill hosts one
 * after the other, \a per_host each. Returns STATUS_USAGE if the grid cannot be cut like this. */
status_t geometry_make(const int64_t global[3], const int procs[3], int depth, int overlap, int per_host,
                       struct geometry *geometry);

/** \brief Returns the number of steps of a product whose two kinds of rings have rings[0] and
 * rings[1] ranks; −1 for sweeps, for which both are 0. */
static inline int geometry_ring_steps(const int rings[2])
{
  return (rings[0] > rings[1] ? rings[0] : rings[1]) - 1;
}

#endif
