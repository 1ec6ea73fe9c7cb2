/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One run of himeno-predict: what is asked for, and what came out. */
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
  struct size_list sizes; /**< n 0: those of the study */
  struct rank_list ranks; /**< n 0: powers of two up to twice the study's most */
  int procs[3];           /**< the first 0: auto */
  struct study_between between;
  int64_t per_host, per_memory, fit_ranks, sweeps_a_pass; /**< 0: as in the study; fit_ranks: all */
  int scaling;                                            /**< enum predict_scaling */
  struct model_scale scale;
  double device_spread; /**< percent; negative: the model's */
  unsigned keep;        /**< of what would be left out */
  double within;        /**< percent that errors may have; 0: any */
  int quiet;
};

/** One prediction. */
struct predict_point {
  struct grid_size size;
  int weak, ranks;
  char transport[STUDY_TEXT];
  struct geometry geometry;
  int predicted;
  char why[256]; /**< why not */
  struct model_time time;
  double gflops;
  double efficiency;   /**< of one rank with the same grid, or in weak scaling with its own part */
  double late;         /**< of the slowest device, a share of its time; 0: as the others */
  double ideal, twice; /**< efficiency if all devices are alike, and with twice_network */
  int n_measured;      /**< runs of the study that this point is of */
  double measured, measured_efficiency; /**< median seconds; NAN: none, or none on one rank */
  double twice_network;                 /**< seconds if latency and bytes took half as long */
};

/** The end of useful scaling, for one size and transport. */
struct predict_end {
  struct grid_size size;
  char transport[STUDY_TEXT];
  int fastest_ranks;   /**< beyond it a sweep takes longer */
  int efficient_ranks; /**< the most with an efficiency of one half */
  int searched_ranks;  /**< the search went so far */
  double fastest_seconds;
};

struct predict {
  struct predict_config config;
  struct study study, compared; /**< fitted; of --against */
  struct study_paths paths;
  struct model model;
  struct validate_table validation, against;
  int n, n_ends;
  struct predict_point *points;
  struct predict_end *ends;
};

/** Options into struct predict_config. */
extern const struct option_program predict_options;

/** \brief Reads, fits, validates, predicts. STATUS_ENVIRONMENT, saying what to measure, when there
 * is too little. */
status_t predict_run(struct predict *predict);
void predict_close(struct predict *predict);

/** \brief Compares the predictions in the document config.check with the runs of config.against.
 * STATUS_ENVIRONMENT when no run was predicted. */
status_t predict_check(struct predict *predict);

/** \brief STATUS_SLOW when the model is poor, or an error against measured runs is more than
 * config.within. */
status_t predict_within(const struct predict *predict);

/** \brief The efficiency to show: what was measured, else the model's. */
static inline double predict_efficiency(const struct predict_point *point)
{
  return point->n_measured > 0 && point->measured_efficiency > 0 ? point->measured_efficiency
                                                                 : point->efficiency;
}

double predict_gflops(const struct predict *predict, const struct geometry *geometry, double seconds);

/** Limits that an extrapolation exceeds: names in documents and texts for people, which say of
 * points per rank whether they are fewer or more. */
struct predict_beyond {
  enum model_beyond what;
  const char *name, *text;
};
#define PREDICT_BEYONDS 7
extern const struct predict_beyond predict_beyonds[PREDICT_BEYONDS];

/** \brief The report for people. */
void predict_report_text(const struct predict *predict, FILE *out);

/** \brief Whether the model is poor, and the errors and intervals of runs that were left out of the
 * fit. */
void predict_report_covered(const struct model_coverage *coverage, FILE *out);

/** \brief The table that compares predictions with runs, with median and worst error. */
void predict_report_against(const struct predict *predict, FILE *out);

/** \brief The document. */
void predict_document(struct doc *d, const struct predict *predict);

#endif
