/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One run of himeno-predict: its options and its results. */
#ifndef TOOLS_PREDICT_PREDICT_H
#define TOOLS_PREDICT_PREDICT_H

#include <stdio.h>

#include "base/document.h"
#include "base/options.h"
#include "tools/predict/lists.h"
#include "tools/predict/validate.h"

enum predict_scaling { SCALING_BOTH, SCALING_STRONG, SCALING_WEAK };

struct predict_config {
  const char *study, *comm, *model, *kernel, *transport, *against, *check, *json;
  struct size_list sizes; /**< sizes to predict; if n is 0, the sizes of the study */
  /** ranks to predict; if n is 0, powers of two up to twice the study's maximum */
  struct rank_list ranks;
  int procs[3]; /**< procs[0] is 0 for auto */
  struct study_between between;
  /** fit_ranks: most ranks of a fitted run (0: any); the other three are 0 for "as in the study" */
  int64_t per_host, per_memory, fit_ranks, sweeps_a_pass;
  int scaling; /**< enum predict_scaling */
  struct model_scale scale;
  /** relative standard deviation of devices' speeds, percent; negative: use the model's value */
  double device_spread;
  unsigned keep; /**< reasons for which runs are not left out, see study_keep_parse */
  double within; /**< largest accepted error in percent; 0: any */
  int quiet;
};

/** One prediction. */
struct predict_point {
  struct grid_size size;
  int weak, ranks;
  char transport[STUDY_TEXT];
  struct geometry geometry;
  int predicted;
  char why[256]; /**< the reason if there is no prediction */
  struct model_time time;
  double gflops;
  /** speed per rank, relative to one rank with the same grid (weak: same part) */
  double efficiency;
  double late;         /**< delay by the slowest device, as a share of computing time */
  double ideal, twice; /**< efficiency with equal devices, and on a network twice as fast */
  int n_measured;      /**< number of the study's runs at this point */
  /** measured: median seconds, or NAN; measured_efficiency: NAN without a run on one rank */
  double measured, measured_efficiency;
  double twice_network; /**< seconds if latency and bytes took half the time */
};

/** Numbers of ranks at which scaling ends, for one size and transport. */
struct predict_end {
  struct grid_size size;
  char transport[STUDY_TEXT];
  int fastest_ranks;   /**< number of ranks above which a sweep takes longer */
  int efficient_ranks; /**< largest number of ranks with an efficiency of at least one half */
  int searched_ranks;  /**< largest number of ranks searched */
  double fastest_seconds;
};

struct predict {
  struct predict_config config;
  struct study study, compared; /**< the study that is fitted, and the study of --against */
  struct study_paths paths;
  struct model model;
  struct validate_table validation, against;
  int n, n_ends;
  struct predict_point *points;
  struct predict_end *ends;
};

extern const struct option_program predict_options;

/** \brief Reads the study, fits and validates the model, and predicts. Returns STATUS_ENVIRONMENT,
 * with a message that says what to measure, if there is too little. */
status_t predict_run(struct predict *predict);
void predict_close(struct predict *predict);

/** \brief Compares the predictions in the document config.check with the runs of config.against.
 * Returns STATUS_ENVIRONMENT if no run was predicted. */
status_t predict_check(struct predict *predict);

/** \brief Returns STATUS_SLOW if the model is poor, or an error against measured runs exceeds
 * config.within. */
status_t predict_within(const struct predict *predict);

/** \brief Returns the measured efficiency if it is known, otherwise the predicted efficiency. */
static inline double predict_efficiency(const struct predict_point *point)
{
  return point->n_measured > 0 && point->measured_efficiency > 0 ? point->measured_efficiency
                                                                 : point->efficiency;
}

double predict_gflops(const struct predict *predict, const struct geometry *geometry, double seconds);

/** Limits that an extrapolation exceeds: names in documents and texts for reports. For points per
 * rank the text says whether they are fewer or more. */
struct predict_beyond {
  enum model_beyond what;
  const char *name, *text;
};
#define PREDICT_BEYONDS 7
extern const struct predict_beyond predict_beyonds[PREDICT_BEYONDS];

void predict_report_text(const struct predict *predict, FILE *out);

/** \brief Prints whether the model is poor, and the errors and intervals of runs that were left out
 * of the fit. */
void predict_report_covered(const struct model_coverage *coverage, FILE *out);

/** \brief Prints the table that compares predictions with runs, with median and worst error. */
void predict_report_against(const struct predict *predict, FILE *out);

void predict_document(struct doc *d, const struct predict *predict);

#endif
