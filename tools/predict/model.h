/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The performance model; doc/explanation/prediction.md has its formulas and the meaning of
 * each term. Here TERM_PASS is a, TERM_POINT t, TERM_CACHE g, TERM_IDLE u, TERM_SLAB_I … K β,
 * TERM_REDUCE_LOG κ; TRANSPORT_SYNC is σ, NEIGHBOUR ν, LATENCY λ, BANDWIDTH φ, HOST χ, SLAB s and
 * ROOT r.
 *
 * comm-gpu measures latencies and bandwidths. All messages are concurrent; each adds ν to the
 * latency. Without overlap, interior and exchange add up; so they do with several sweeps per pass
 * if the host takes no part in the exchange. For a product of gemm-gpu, points are multiply-adds,
 * and each pair of slices of a panel takes one launch, which costs a. The exchange of a product
 * consists of the steps of all panels, each of which costs one latency (with p2p also s). A product
 * has neither cache nor slabs.
 *
 * In a model with slabs_hidden = 0, slabs are separate work before the exchange. Such a model has
 * boundary = slabs·s + points·β_d, and the constant reduction ρ. */
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

/** Terms of which each transport has its own value. */
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

/** Criteria for leaving out runs, and the ranges that a prediction can exceed. */
enum model_kind { KIND_RANKS, KIND_SIZE, KIND_CUT, KINDS };
extern const char *const model_program_names[STUDY_PROGRAMS];
extern const char *const model_kind_names[KINDS]; /**< "ranks", "size", "cut" */

/** The cost that takes most of the time. */
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

/** Values of the terms, of the model or of one replicate of its fit; cache_points is C. */
struct model_values {
  double value[MODEL_COLUMNS_MAX];
  double cache_points;
  double share;  /**< f, the parameter of model_slowdown; 0: no ranks share a memory */
  double hinder; /**< h, the seconds by which a second of hidden exchange slows computing */
};

#define MODEL_REPLICATES 24
#define MODEL_MEASURED   64

/** The data from which a time is predicted: the runs' settings, the paths, and the fitted terms. */
struct model_terms {
  struct study_paths paths; /**< the transports of the study, in the order of their columns */
  int columns;
  struct model_values fitted;
  double tile_points; /**< points per tile of a row, whose end may have idle threads; 0: no tiles */
  /** for products: rows and columns per tile, and number of multiprocessors; 0: unknown */
  int tile[2], units;
  int depth, overlap;
  int slabs_hidden; /**< 0: slabs are swept before the exchange, with their own terms */
};

/** Errors of the terms and of predictions with them. */
struct model_errors {
  double error[MODEL_COLUMNS_MAX]; /**< standard errors */
  int seen[MODEL_COLUMNS_MAX];     /**< 1: the runs determine this term */
  /** number of fits to randomly drawn configurations; 0: predictions have no interval */
  int n_replicates;
  struct model_values replicate[MODEL_REPLICATES];
  /** relative error of one run compared with the model */
  double spread;
  double transport_spread[STUDY_TRANSPORTS_MAX]; /**< relative error of a run by each transport */
  double freedom;                                /**< degrees of freedom; 0 without an interval */
  /** Widening of an interval beyond the measured range, as logarithm: the error of runs that were
   * left out; 0 if unknown. */
  double off[KINDS], transport_off[STUDY_TRANSPORTS_MAX][KINDS];
};

/** Number of left-out runs inside their intervals, whose widths were set without these runs. */
struct model_covered {
  char of[STUDY_TEXT]; /**< "all", or a common property of the runs: "size", "p2p", "2 hosts" */
  int inside, n;
};

/** Accuracy of predictions, from runs that were left out of the fit. */
#define MODEL_CAUSES 4
struct model_coverage {
  int n;
  struct model_covered group[MODEL_MEASURED];
  int predicted;        /**< number of runs that were left out and predicted */
  double median, worst; /**< relative errors of these predictions */
  double spread;        /**< spread of the fit, used if predicted is 0; 0: unknown */
  int n_causes;         /**< number of causes of poor predictions, as the runs show them */
  char cause[MODEL_CAUSES][128];
};

/** A model is poor if its median error exceeds the first limit, or if the fraction of left-out runs
 * inside their intervals is below the second. */
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

/** The measured range. */
struct model_range {
  int runs, ranks_most, hosts_most;
  int per_host; /**< 0: all runs were on one host */
  double points_least, points_most;
  double bytes_most;
  double device_spread;       /**< relative standard deviation of devices' speeds; 0: unknown */
  int sharers_most, memories; /**< see struct study_run */
  struct model_names sizes, cuts;
};

struct model {
  enum study_program program;
  struct study_product product; /**< same for all of its runs */
  struct model_terms terms;
  struct model_errors errors;
  struct model_coverage coverage;
  struct model_range range;
};

/** \brief Returns 1 if the interior hides its passes' fixed cost, and slabs are computed first. */
static inline int model_steps_hidden(const struct model_terms *terms)
{
  return terms->slabs_hidden && terms->depth > 1;
}

void model_list(struct model_names *names, const char *name);

/** Factors on times for changed hardware; 1: as measured. */
struct model_scale {
  double compute, exchange;
};

/** A prediction. Times are seconds per sweep. */
struct model_time {
  double seconds, low, high; /**< low to high: interval of 90% of runs; 0 without an interval */
  double interior, latency, bytes, boundary, synchronisation, reduction;
  double exposed; /**< the part of the exchange that the interior does not hide */
  enum model_limit limit;
  int between_hosts; /**< 1: the exchange takes longest between hosts; 0: within a host */
  int extrapolated;  /**< enum model_beyond, or-ed */
};

/** Limits of the measured range that a prediction exceeds. */
enum model_beyond {
  BEYOND_RANKS = 1,  /**< more ranks than any run */
  BEYOND_HOSTS = 2,  /**< more hosts than any run */
  BEYOND_SMALL = 8,  /**< fewer points per rank than any run */
  BEYOND_LARGE = 16, /**< more points per rank than any run */
  BEYOND_BYTES = 32, /**< more bytes per exchange than any run */
  BEYOND_PASS = 128, /**< another number of sweeps per pass than in the runs */
  BEYOND_HOST = 64   /**< the study has one host, and more ranks per host than it had are assumed */
};

/** \brief Fits the model. Returns STATUS_ENVIRONMENT, with a message that names the missing
 * measurements, if the study has too little. If \a from is not NULL, the fit starts at that model
 * and keeps its tiles and cache. If \a replicates is 0, the fit is not repeated, and there is no
 * interval. */
status_t model_fit(const struct study *study, const struct study_paths *paths, const struct model_terms *from,
                   int replicates, struct model *model);

/** \brief Predicts the time of \a geometry by \a transport. Returns STATUS_ENVIRONMENT, with a
 * message that says what to measure, if a significant term was never measured. */
status_t model_predict(const struct model *model, const struct geometry *geometry, const char *transport,
                       const struct model_scale *scale, struct model_time *time);

/** \brief Predicts each rank of \a geometry's grid, and sets \a geometry and \a time to those of
 * the slowest rank. At the edge of a host, messages take two transports, and which rank is slowest
 * depends on both. Returns errors as model_predict does. */
status_t model_slowest(const struct model *model, int per_host, const char *transport,
                       const struct model_scale *scale, struct geometry *geometry, struct model_time *time);

/** \brief Sets time->low and time->high, which model_predict sets to 0, to the interval about
 * time->seconds. \a size is the name of the size; NULL if it has none. */
void model_interval(const struct model *model, const struct geometry *geometry, const char *transport,
                    const struct model_scale *scale, const char *size, struct model_time *time);

/** \brief model_half returns half of the interval's width, as logarithm, within the measured range.
 * model_shift returns the absolute change of a time, as logarithm, if everything between ranks
 * takes \a times as long. model_beyonds sets, per kind, by how much a prediction exceeds the
 * measured range. */
double model_half(const struct model *model, const struct geometry *geometry, int via,
                  const struct model_scale *scale, const struct model_time *time);
double model_shift(const struct model_terms *terms, const struct geometry *geometry, int via,
                   const struct model_scale *scale, double times);
void model_beyonds(const struct model_range *range, const struct geometry *geometry, const char *size,
                   double beyond[KINDS]);

/** \brief Returns the factor by which each of \a sharers ranks on one memory is slower. */
double model_slowdown(double share, int sharers);

/** \brief Returns the name of a term: "pass", "point", …; with the transport's name for its
 * columns, as in "staged synchronisation". */
const char *model_term_name(const struct study_paths *paths, int column, char text[96]);

/** Texts of a term: name and unit in documents, the part of the time that it adds to, and its value
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

/** Parts of a sweep, in seconds. If slabs are computed alongside the interior, `chain` is the work
 * that precedes the exchange. */
struct model_parts {
  double interior, boundary, chain, latency, bytes, synchronisation, reduction;
  double hinder;     /**< seconds by which a second of hidden exchange slows computing */
  double overlap;    /**< as in struct geometry, but 0 for several sweeps per pass by p2p or ipc */
  int rings[2];      /**< for a product: number of ranks in a ring of A, and of B; 0 for sweeps */
  int between_hosts; /**< 1: the exchange takes longest between hosts; 0: within a host */
};

/** \brief Sets the parts of a geometry's time; \a via is the index of its transport, or −1 if it
 * has no neighbours. */
void model_parts_make(const struct model_terms *terms, const struct geometry *geometry, int via,
                      struct model_parts *parts);

double model_parts_seconds(const struct model_parts *parts);

/** \brief Returns 1 if one launch computes all slabs, sends all messages and waits for all halos,
 * as with p2p. Then the slabs' launch belongs to the exchange, each message after the first costs
 * only its bytes, and the phases of a run do not separate slabs from interior. */
int model_at_once(const char *transport);

/** \brief Returns 1 if a transport needs its peer's memory, so that himeno-gpu uses another
 * transport between hosts. */
int model_within_hosts(const char *transport);

/** \brief Replaces the paths between hosts by \a between, for transports that work there. */
void model_between_set(const struct study_between *between, struct study_paths *paths);

/** \brief Returns STATUS_ENVIRONMENT, with a message that says what to measure, if a path of
 * \a geometry's messages was neither measured nor given. No other path replaces it. */
status_t model_paths_check(const struct study_paths *paths, const struct geometry *geometry, int via);

/* Reading and writing the model as JSON, as a part of himeno-predict's document. */

/** The schema of model documents. */
#define MODEL_SCHEMA "himeno-predict/1"

/** \brief Reads `model.covered` and `model.held_out` of the document at \a path into \a coverage.
 * If a field is invalid, logs it and returns STATUS_USAGE. */
status_t model_covered_read(const char *path, const json_t *json, struct model_coverage *coverage);

/** \brief Returns how an element of `paths` was staged, as study_run.handover; −1: not staged. */
int model_staging(const json_t *path);

/** \brief Reads the `model` of a document of himeno-predict. Without replicates, predictions have
 * no interval. Returns STATUS_ENVIRONMENT if the file cannot be read. If it is no model, or is not
 * a model of \a kernel (NULL: any), logs the first invalid field and returns STATUS_USAGE. */
status_t model_json_read(const char *path, const char *kernel, struct model *model);

#endif
