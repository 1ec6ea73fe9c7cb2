/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The performance model: doc/explanation/prediction.md has its formulas and what each term
 * means. Here TERM_PASS is a, TERM_POINT t, TERM_CACHE g, TERM_IDLE u, TERM_SLAB_I … K β,
 * TERM_REDUCE_LOG κ; TRANSPORT_SYNC is σ, NEIGHBOUR ν, LATENCY λ, BANDWIDTH φ, HOST χ, SLAB s and
 * ROOT r.
 *
 * Latencies and bandwidths are comm-gpu's. All messages are concurrent: a further one costs ν.
 * Without overlap interior and exchange add, as with several sweeps per pass if no host takes part
 * in the exchange. A product of gemm-gpu has multiply-adds for points and a launch for each pair of
 * slices of a panel, each a; its exchange is all panels' steps, a latency each (by p2p s too).
 * Nothing of it is cache or slabs.
 *
 * A model may also take slabs for work of their own before the exchange (slabs_hidden 0): it has
 * boundary = slabs·s + points·β_d and reduction ρ. */
#ifndef TOOLS_PREDICT_MODEL_H
#define TOOLS_PREDICT_MODEL_H

#include <jansson.h>

#include "tools/predict/geometry.h"
#include "tools/predict/student.h"

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

/** Terms that each transport has for itself. */
enum model_transport_term {
  TRANSPORT_SYNC,
  TRANSPORT_NEIGHBOUR,
  TRANSPORT_LATENCY,
  TRANSPORT_BANDWIDTH,
  TRANSPORT_HOST,
  TRANSPORT_SLAB,
  TRANSPORT_ROOT,
  TRANSPORT_TERMS
};

#define MODEL_COLUMNS_MAX (TERMS + TRANSPORT_TERMS * STUDY_TRANSPORTS_MAX)

/** Kinds by which runs can be left out, and beyond which a prediction can go. */
enum model_kind { KIND_RANKS, KIND_SIZE, KIND_CUT, KINDS };
extern const char *const model_program_names[STUDY_PROGRAMS];
extern const char *const model_kind_names[KINDS]; /**< "ranks", "size", "cut" */

/** Terms of which one costs most. */
enum model_limit {
  LIMIT_INTERIOR,
  LIMIT_LATENCY,
  LIMIT_BANDWIDTH,
  LIMIT_BOUNDARY,
  LIMIT_SYNCHRONISATION,
  LIMIT_REDUCTION,
  MODEL_LIMITS
};
extern const char *const model_limit_names[MODEL_LIMITS];

/** The terms' values in one replicate, and C. */
struct model_values {
  double value[MODEL_COLUMNS_MAX];
  double cache_points;
  double share;  /**< f; 0: no ranks shared a memory */
  double hinder; /**< h */
};

#define MODEL_REPLICATES 24
#define MODEL_MEASURED   64

/** Input for a time: the runs' settings, the paths, and the fit. */
struct model_terms {
  struct study_paths paths; /**< the transports of the study, in the order of their columns */
  int columns;
  struct model_values fitted;
  double tile_points; /**< W; 0: no point of a row is idle */
  int tile[2], units; /**< of products, rows and columns; multiprocessors; 0: not known */
  int depth, overlap;
  int slabs_hidden; /**< 0: slabs go first, with terms of their own */
};

/** How far off the terms and predictions with them are. */
struct model_errors {
  double error[MODEL_COLUMNS_MAX]; /**< standard errors */
  int seen[MODEL_COLUMNS_MAX];     /**< runs told something of it */
  /** the fit made again with configurations drawn at random; none: there is no interval */
  int n_replicates;
  struct model_values replicate[MODEL_REPLICATES];
  double spread;                                 /**< relative error of one run about the model */
  double transport_spread[STUDY_TRANSPORTS_MAX]; /**< of runs by each transport */
  double freedom;                                /**< degrees of freedom; 0 without an interval */
  /** Addition to an interval, as logarithm, beyond the measured range: the error of runs that were
   * left out; 0 if unknown. */
  double off[KINDS], transport_off[STUDY_TRANSPORTS_MAX][KINDS];
};

/** Of runs that had no part in the widths of their intervals: how many were inside. */
struct model_covered {
  char of[STUDY_TEXT]; /**< "all", or what the runs have in common: "size", "p2p", "2 hosts" */
  int inside, n;
};

/** How far predictions can be believed, from runs that were left out of the fit. */
#define MODEL_CAUSES 4
struct model_coverage {
  int n;
  struct model_covered group[MODEL_MEASURED];
  int predicted;        /**< runs that were left out and predicted */
  double median, worst; /**< their relative errors */
  double spread;        /**< of the fit, which tells where none could be predicted; 0 unknown */
  int n_causes;         /**< of poor predictions, as far as the runs show them */
  char cause[MODEL_CAUSES][128];
};

/** A model is poor beyond either limit. */
#define MODEL_POOR_MEDIAN 0.20
#define MODEL_POOR_INSIDE 0.80
static inline int model_is_poor(const struct model_coverage *coverage)
{
  return (coverage->predicted > 0 ? coverage->median : coverage->spread) > MODEL_POOR_MEDIAN ||
         (coverage->n > 0 && coverage->group[0].inside < MODEL_POOR_INSIDE * coverage->group[0].n);
}

struct model_names {
  int n;
  char name[MODEL_MEASURED][STUDY_TEXT];
};

/** The range that was measured. */
struct model_range {
  int runs, ranks_most, hosts_most;
  int per_host; /**< 0: all runs were on one host */
  double points_least, points_most;
  double bytes_most;
  double device_spread;       /**< relative standard deviation of devices; 0: unknown */
  int sharers_most, memories; /**< as a run's */
  struct model_names sizes, cuts;
};

struct model {
  enum study_program program;
  struct study_product product; /**< of its runs */
  struct model_terms terms;
  struct model_errors errors;
  struct model_coverage coverage;
  struct model_range range;
};

/** \brief Whether points hide the steps of a block, and slabs go first. */
static inline int model_steps_hidden(const struct model_terms *terms)
{
  return terms->slabs_hidden && terms->depth > 1;
}

/** \brief Adds a name that is not there, while there is room. */
void model_list(struct model_names *names, const char *name);

/** Factors for changed hardware; 1 is as measured. */
struct model_scale {
  double compute, exchange;
};

/** A prediction, seconds per sweep. */
struct model_time {
  double seconds, low, high; /**< low and high: 90% of runs lie between; 0 without an interval */
  double interior, latency, bytes, boundary, synchronisation, reduction;
  double exposed; /**< of the exchange, not beside the interior */
  enum model_limit limit;
  int between_hosts; /**< the exchange's longer path */
  int extrapolated;  /**< enum model_beyond, or-ed */
};

/** Limits of the measured range that a prediction exceeds. */
enum model_beyond {
  BEYOND_RANKS = 1,  /**< more ranks than any run */
  BEYOND_HOSTS = 2,  /**< more hosts than any run */
  BEYOND_SMALL = 8,  /**< fewer points a rank than any run */
  BEYOND_LARGE = 16, /**< more points a rank than any run */
  BEYOND_BYTES = 32, /**< more bytes in an exchange than any run */
  BEYOND_PASS = 128, /**< another number of sweeps a pass than the runs */
  BEYOND_HOST = 64   /**< the study has one host, and a host of so many ranks is imagined */
};

/** \brief Fits. STATUS_ENVIRONMENT, naming the missing measurements, when the study has too little.
 * The fit begins at the model \a from, whose tiles and cache it has; NULL: none. Without \a
 * replicates there is no interval, for which the fit is made again many times. */
status_t model_fit(const struct study *study, const struct study_paths *paths, const struct model_terms *from,
                   int replicates, struct model *model);

/** \brief Predicts. STATUS_ENVIRONMENT, saying what to measure, when a term that matters was never
 * seen. */
status_t model_predict(const struct model *model, const struct geometry *geometry, const char *transport,
                       const struct model_scale *scale, struct model_time *time);

/** \brief Predicts for each rank of the grid that \a geometry is of, and keeps the slowest one's
 * geometry and time: next to the edge of a host some messages take one transport and some the
 * other, and which rank is slowest depends on both. As model_predict. */
status_t model_slowest(const struct model *model, int per_host, const char *transport,
                       const struct model_scale *scale, struct geometry *geometry, struct model_time *time);

/** \brief Puts the interval about time->seconds of a prediction for runs of \a size (NULL: of no
 * name); model_predict does not know it and takes it for measured. */
void model_interval(const struct model *model, const struct geometry *geometry, const char *transport,
                    const struct model_scale *scale, const char *size, struct model_time *time);

/** \brief Half of the interval's width, as logarithm, by runs of the model's own kind; and the
 * doublings by which a prediction goes beyond, of each kind: 0 where it does not. */
double model_half(const struct model *model, const struct geometry *geometry, int via,
                  const struct model_scale *scale, const struct model_time *time);
double model_shift(const struct model_terms *terms, const struct geometry *geometry, int via,
                   const struct model_scale *scale, double times);
void model_beyonds(const struct model_range *range, const struct geometry *geometry, const char *size,
                   double beyond[KINDS]);

/** \brief By how much each of \a sharers ranks on one memory is slower. */
double model_slowdown(double share, int sharers);

/** \brief "pass", "point", …; for columns of transports "staged synchronisation" and so on. */
const char *model_term_name(const struct study_paths *paths, int column, char text[96]);

/** A term in words: name and unit in documents, the part of the time that it adds to, and its value
 * times \a scale in reports. */
struct model_term_text {
  const char *name, *unit, *part;
  double scale;
  const char *text;
};
extern const struct model_term_text model_term_texts[TERMS + TRANSPORT_TERMS];
static inline const struct model_term_text *model_term_text(int column)
{
  return &model_term_texts[column < TERMS ? column : TERMS + (column - TERMS) % TRANSPORT_TERMS];
}

static inline int model_transport_column(int via, enum model_transport_term term)
{
  return TERMS + via * TRANSPORT_TERMS + (int)term;
}

/** Parts of a sweep, in seconds. The chain is what precedes the exchange where slabs are computed
 * alongside the interior. */
struct model_parts {
  double interior, boundary, chain, latency, bytes, synchronisation, reduction;
  double hinder;     /**< what a hidden second of exchange costs */
  double overlap;    /**< as in struct geometry, but 0 where several sweeps a pass go by p2p */
  int rings[2];      /**< of a product, ranks in the rings of A and of B; 0 of sweeps */
  int between_hosts; /**< the exchange's longer path */
};

/** \brief The parts of a geometry; \a via is the index of its transport, −1 without neighbours. */
void model_parts_make(const struct model_terms *terms, const struct geometry *geometry, int via,
                      struct model_parts *parts);

/** \brief The whole sweep or product. */
double model_parts_seconds(const struct model_parts *parts);

/** \brief Whether one launch computes all slabs, sends all messages and waits for all halos, as
 * p2p's does: then the slabs' launch is a part of the exchange, a further message costs only its
 * bytes, and the phases of a run do not separate slabs from interior. */
int model_at_once(const char *transport);

/** \brief Whether a transport needs its peer's memory, so that himeno-gpu takes another between
 * hosts. */
int model_within_hosts(const char *transport);

/** \brief Puts what is given in the place of what was measured between hosts, by transports that go
 * there. */
void model_between_set(const struct study_between *between, struct study_paths *paths);

/** \brief Whether each path that the messages of \a geometry take was measured or given: nothing
 * stands for one that was not. STATUS_ENVIRONMENT, saying what to measure. */
status_t model_paths_check(const struct study_paths *paths, const struct geometry *geometry, int via);

/* As JSON: part of the document of himeno-predict, and read again from it. */

/** The schema of model documents. */
#define MODEL_SCHEMA "himeno-predict/1"

/** \brief Its `covered`, of the document at \a path. STATUS_USAGE, naming what is wrong. */
status_t model_covered_read(const char *path, const json_t *json, struct model_coverage *coverage);

/** \brief The `handover` that one of its `paths` has; −1: none. */
int model_staging(const json_t *path);

/** \brief Reads the `model` of a document of himeno-predict. Without replicates it predicts without
 * an interval. STATUS_ENVIRONMENT, or STATUS_USAGE, naming the first field that is wrong: also
 * where it is not of \a kernel (NULL: of any). */
status_t model_json_read(const char *path, const char *kernel, struct model *model);

#endif
