/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Properties of a program whose runs himeno-predict fits: its sizes, its cuts, and the work
 * of each rank. Everything else is the same for all programs. */
#ifndef TOOLS_PREDICT_WORKLOAD_H
#define TOOLS_PREDICT_WORKLOAD_H

#include "comm/halo/grid.h"
#include "tools/predict/geometry.h"

struct workload {
  const char *command;          /**< command that measures the runs */
  const char *work, *point;     /**< "sweep": the timed unit; "point": a part of it */
  const char *const extents[3]; /**< names of the extents in documents */
  int dimensions;               /**< number of dimensions that are cut */
  const char *formula[2];       /**< formula of the time: without and with overlap */
  double flop;                  /**< operations per point */
  /** first guess of the part of a byte's time that all ranks of a host share, and the uncertainty
   * of the guess's logarithm */
  double host_guess, host_width;
  int regimes; /**< 1: the fit looks for caches and tiles */
  /** 1: if the host takes part in the exchange, slabs are computed first, in their own launch */
  int slabs_first;
  /** 1: hidden exchanges slow computing, and p2p stores have fewer cores than in comm-gpu */
  int hinders;
  /** Reads a size into a struct grid_size. Returns errors as grid_size_parse does. */
  status_t (*size_parse)(const char *option, const char *text, void *size);
  /** Changes run->global from SIZE to the grid of all ranks, and sets run->procs to \a asked or, if
   * asked[0] is 0, to the program's own choice. Returns STATUS_USAGE if no such cut exists. */
  status_t (*cut)(const int asked[3], struct study_run *run);
  /** Sets the geometry of the busiest rank. */
  status_t (*geometry)(const struct study_run *run, int per_host, struct geometry *geometry);
};
extern const struct workload workloads[STUDY_PROGRAMS];

static inline status_t workload_geometry(const struct study_run *run, int per_host, struct geometry *geometry)
{
  RETURN_IF_FAILED(workloads[run->program].geometry(run, per_host, geometry));
  geometry->sharers = run->sharers;
  return STATUS_OK;
}

/** \brief Returns the panels for products of other sizes: gemm-gpu's choice if all runs of \a study
 * use it, otherwise the widest of them. */
struct study_product workload_product(const struct study *study);

#endif
