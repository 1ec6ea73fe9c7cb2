/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a rank, the busiest unless another is asked for, has to compute and to send, from
 * himeno-gpu's own decomposition and halo plan, or from gemm-gpu's grid and panels (workload.h). */
#ifndef TOOLS_PREDICT_GEOMETRY_H
#define TOOLS_PREDICT_GEOMETRY_H

#include "tools/predict/study.h"

struct geometry {
  int ranks, hosts, depth;
  int sharers; /**< ranks on its memory or device; 0: unknown, taken for 1 */
  /** share of the time in which all of computing and of the exchange may go on at once: 1, 0
   * without overlap, of a product all panels but the first */
  double overlap;
  double launches; /**< of the kernel: 1, of a product one for each pair of slices */
  double rounds;   /**< exchanges one after the other: 1, of a product steps of all panels */
  struct study_product product;
  double part[3]; /**< of a product, m, n and k of a launch */
  /** that of another rank; \a all is of any rank of the same grid */
  status_t (*of_rank)(const struct geometry *all, int rank, int per_host, struct geometry *geometry);
  int64_t global[3];
  int procs[3];
  double all_points; /**< of the grid, interior */
  double points;     /**< that the rank owns */
  /** of these, computed while halos travel; all without neighbours or overlap */
  double inner;
  double row;            /**< points of a row along k of these */
  double slab_points[3]; /**< of these, computed first, by the dimension that is cut */
  int slabs;
  /** messages, and by where they go, in an exchange; of a product in all of its exchanges */
  int neighbours;
  double messages[STUDY_WHERES], bytes[STUDY_WHERES];
  /** that all ranks of its host send within it */
  double host_bytes;
};

/** \brief The busiest of all ranks: most messages to other hosts, then most messages, then most
 * points. Ranks fill hosts one after the other, \a per_host each. STATUS_USAGE when the grid cannot
 * be cut so. */
status_t geometry_make(const int64_t global[3], const int procs[3], int depth, int overlap, int per_host,
                       struct geometry *geometry);

/** \brief Steps of a product's rings, which have so many ranks; −1 of sweeps, which have none. */
static inline int geometry_ring_steps(const int rings[2])
{
  return (rings[0] > rings[1] ? rings[0] : rings[1]) - 1;
}

#endif
