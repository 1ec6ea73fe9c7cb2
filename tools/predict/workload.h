/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What himeno-predict has to know of a program whose runs it fits: its sizes, its cuts, what
 * each rank has to do. All else it has in common for all. */
#ifndef TOOLS_PREDICT_WORKLOAD_H
#define TOOLS_PREDICT_WORKLOAD_H

#include "comm/halo/grid.h"
#include "tools/predict/geometry.h"

struct workload {
  const char *command;          /**< that measures */
  const char *work, *point;     /**< "sweep" of which one is timed, of "point"s */
  const char *const extents[3]; /**< in documents */
  int dimensions;               /**< that are cut */
  const char *formula[2];       /**< of the time: without and with overlap */
  double flop;                  /**< a point */
  /** Guess if no run measures it: the cost of a rank's bytes to its host's other ranks, as a share
   * of the time of two that send as much; and its uncertainty, on logarithms. */
  double host_guess, host_width;
  int regimes;     /**< of caches and tiles are looked for */
  int slabs_first; /**< for attended transports: an exchange waits for its own launch */
  int hinders;     /**< stores of p2p have fewer cores than in comm-gpu; hidden copies cost */
  /** Reads a size into a struct grid_size; as grid_size_parse. */
  status_t (*size_parse)(const char *option, const char *text, void *size);
  /** From run->global, which is SIZE, to that of all ranks, and run->procs: those \a asked for, or
   * where the first is 0 the program's own choice. STATUS_USAGE where there is no such cut. */
  status_t (*cut)(const int asked[3], struct study_run *run);
  /** The busiest rank's. */
  status_t (*geometry)(const struct study_run *run, int per_host, struct geometry *geometry);
};
extern const struct workload workloads[STUDY_PROGRAMS];

static inline status_t workload_geometry(const struct study_run *run, int per_host, struct geometry *geometry)
{
  RETURN_IF_FAILED(workloads[run->program].geometry(run, per_host, geometry));
  geometry->sharers = run->sharers;
  return STATUS_OK;
}

/** \brief How products of other sizes would be made: in panels of gemm-gpu's choice where all runs
 * of \a study have them, else in the widest of them. */
struct study_product workload_product(const struct study *study);

#endif
