/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The performance model: seconds a sweep = max(interior, exchange) + boundary +
 * synchronisation + reduction.
 *
 *     interior        = a + V/b − g·min(V, C) + u·idle
 *                       V points; C of them stay in the cache from sweep to sweep; a kernel sweeps
 *                       rows in tiles of W points, and of the last tile of each row some are idle
 *     boundary        = slabs·s + Σ over cut dimensions d of points·β_d
 *     exchange        = λ·latency of the longest path + ν·messages + max over the paths, within
 *                       the host and beyond, of (φ·B + χ·ΣB) / bandwidth of the path, a T-th of it
 *                       a sweep: B bytes that the rank sends, ΣB bytes that all ranks of its host
 *                       send within it, since their copies share its memory and wait for each
 *                       other; latencies and bandwidths are comm-gpu's, λ and φ + 2χ (a pair) near
 *                       1 are the study's. All messages are under way at once, so that a further
 *                       one costs ν. With p2p, where no host takes part, one launch computes all
 *                       slabs, beside the interior, and sends them: s + λ·latency + φ·B /
 *                       bandwidth, and nothing for a further message
 *     synchronisation = σ          as soon as there are neighbours
 *     reduction       = ρ + κ·log2(ranks)
 *
 * Without overlap interior and exchange add. All terms are linear in the parameters but for the
 * maximum and C, so the fit is a least-squares problem solved over and over: each run is taken as
 * bound by interior or by exchange, whichever the last parameters say, until that no longer
 * changes; C and W are searched. Errors are relative to each run's time, and runs by a way that
 * scatters count for less. */
#ifndef TOOLS_PREDICT_MODEL_H
#define TOOLS_PREDICT_MODEL_H

#include <jansson.h>

#include "tools/predict/geometry.h"
#include "tools/predict/lsq.h"

enum model_term {
  TERM_PASS,
  TERM_POINT,
  TERM_CACHE,
  TERM_IDLE,
  TERM_SLAB_I,
  TERM_SLAB_J,
  TERM_SLAB_K,
  TERM_REDUCE,
  TERM_REDUCE_LOG,
  TERMS
};

/** Terms that each way between neighbours has for itself. */
enum model_way_term { WAY_SYNC, WAY_NEIGHBOUR, WAY_LATENCY, WAY_BANDWIDTH, WAY_HOST, WAY_SLAB, WAY_TERMS };

#define MODEL_COLUMNS_MAX (TERMS + WAY_TERMS * STUDY_WAYS_MAX)

struct model {
  struct study_paths paths; /**< the ways of the study, in the order of their columns */
  int columns;
  double cache_points; /**< C; 0: no cache regime */
  double tile_points;  /**< W; 0: no point of a row is idle */
  double value[MODEL_COLUMNS_MAX];
  double error[MODEL_COLUMNS_MAX]; /**< standard errors */
  int seen[MODEL_COLUMNS_MAX];     /**< runs told something of it */
  /* what the interval needs; without an interval freedom is 0 */
  double covariance[MODEL_COLUMNS_MAX * MODEL_COLUMNS_MAX]; /**< in units of spread² */
  /** relative error of one run about the model */
  double spread;
  double way_spread[STUDY_WAYS_MAX]; /**< of runs by each way */
  double freedom;                    /**< degrees of freedom behind it */
  /** Of runs beyond the measured ranks: by leaving out the most ranks, or else sizes or cuts; 0 if
   * unknown. */
  double far_spread, way_far_spread[STUDY_WAYS_MAX];
  /* the range that was measured */
  int runs, ranks_most, hosts_most, depth, overlap;
  int per_host; /**< 0: all runs were on one host */
  double points_least, points_most;
  double bytes_most;
};

/** What-if factors; 1 is as measured. */
struct model_scale {
  double compute, exchange;
};

/** A prediction, seconds a sweep. */
struct model_time {
  double seconds, low, high; /**< low and high: 90% of runs lie between; 0 without an interval */
  double interior, latency, bytes, boundary, synchronisation, reduction;
  const char *limit; /**< the term that costs most */
  int extrapolated;  /**< enum model_beyond, or-ed */
};

/** What a prediction goes beyond. */
enum model_beyond {
  BEYOND_RANKS = 1,  /**< more ranks than any run */
  BEYOND_HOSTS = 2,  /**< more hosts than any run */
  BEYOND_SMALL = 8,  /**< fewer points a rank than any run */
  BEYOND_LARGE = 16, /**< more points a rank than any run */
  BEYOND_BYTES = 32, /**< more bytes in an exchange than any run */
  BEYOND_HOST = 64   /**< the study has one host, and a host of so many ranks is imagined */
};

/** \brief Fits. STATUS_ENVIRONMENT, saying what to measure, when the study tells too little. */
status_t model_fit(const struct study *study, const struct study_paths *paths, struct model *model);

/** \brief Predicts. STATUS_ENVIRONMENT, saying what to measure, when a term that matters was never
 * seen. */
status_t model_predict(const struct model *model, const struct geometry *geometry, const char *transport,
                       const struct model_scale *scale, struct model_time *time);

/** \brief Predicts for each rank of the grid that \a geometry is of, and keeps the slowest one's
 * geometry and time: next to the edge of a host some messages take one way and some the other, and
 * which rank is slowest depends on both. As model_predict. */
status_t model_slowest(const struct model *model, int per_host, const char *transport,
                       const struct model_scale *scale, struct geometry *geometry, struct model_time *time);

/** \brief "pass", "point", …; for columns of ways "staged synchronisation" and so on. */
const char *model_term_name(const struct model *model, int column, char text[96]);

/* The terms of a time as a row of the linear problem, for fitting and predicting. */

static inline int model_way_column(int way, enum model_way_term term)
{
  return TERMS + way * WAY_TERMS + (int)term;
}

/** Rows of the parts of a sweep; a part's time is its row times the values. The chain is what
 * precedes the exchange where slabs are computed beside the interior. */
struct model_rows {
  double interior[MODEL_COLUMNS_MAX], boundary[MODEL_COLUMNS_MAX], chain[MODEL_COLUMNS_MAX],
      latency[MODEL_COLUMNS_MAX], bytes[MODEL_COLUMNS_MAX], synchronisation[MODEL_COLUMNS_MAX],
      reduction[MODEL_COLUMNS_MAX];
};

/** \brief The rows of a geometry; \a way is the column block of its transport, −1 without
 * neighbours. */
void model_rows_make(const struct model *model, const struct geometry *geometry, int way,
                     struct model_rows *rows);

/** \brief Row times values. */
double model_product(const struct model *model, const double *row);

/** \brief The row of the whole sweep: with interior, with exchange, or with both where nothing
 * overlaps. */
void model_row_total(const struct model *model, const struct model_rows *rows, int overlap, double *total);

/** \brief Whether one launch computes all slabs, sends all messages and waits for all halos, as
 * p2p's does: then the slabs' launch is a part of the exchange, a further message costs only its
 * bytes, and the phases of a run do not tell slabs from interior. */
int model_at_once(const char *transport);

/** \brief Block of a transport's columns; −1 if it has none. */
int model_way(const struct model *model, const char *transport);

/** \brief Whether a transport needs its peer's memory, so that himeno-gpu takes another between
 * hosts. */
int model_within_hosts(const char *transport);

/** \brief Puts what is given in the place of what was measured between hosts, by ways that go
 * there. */
void model_between_set(const struct study_between *between, struct study_paths *paths);

/** Which way messages take, by where they go; −1 where the model has none. */
struct model_route {
  int way[STUDY_WHERES];
};

/** \brief As himeno-gpu routes them: what needs a peer's memory goes within a host, and pairs apart
 * go by `staged`. Then slabs have launches of their own, as all ranks leave or none. */
struct model_route model_route(const struct model *model, int hosts, int way);

/** \brief Whether each path that the messages of \a geometry take was measured or given: nothing
 * stands for one that was not. STATUS_ENVIRONMENT, saying what to measure. */
status_t model_paths_check(const struct model *model, const struct geometry *geometry, int way);

/* As JSON: part of the document of himeno-predict, and read again from it. */

/** What carries a model. */
#define MODEL_SCHEMA "himeno-predict/1"

/** \brief The object `model` of doc/predict.schema.json; NULL when memory ran out. */
json_t *model_json(const struct model *model);

/** \brief Reads the `model` of a document of himeno-predict. Without covariance it predicts without
 * an interval. STATUS_ENVIRONMENT, or STATUS_USAGE, naming the first field that is wrong: also
 * where it is not of \a kernel (NULL: of any). */
status_t model_json_read(const char *path, const char *kernel, struct model *model);

#endif
