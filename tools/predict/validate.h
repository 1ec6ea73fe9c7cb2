/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Leave-out validation: the model is fitted without some runs and predicts them. */
#ifndef TOOLS_PREDICT_VALIDATE_H
#define TOOLS_PREDICT_VALIDATE_H

#include "tools/predict/model.h"

/** One run that was left out, and what the others say of it. */
struct validate_pair {
  enum model_kind kind;
  char left[STUDY_TEXT]; /**< what was left out: "8 ranks", "size L", "cut 2x2x1" */
  struct study_run run;
  int predicted; /**< 0: the rest tells too little */
  struct geometry geometry;
  int via; /**< −1: on one rank */
  double beyond[KINDS];
  struct model_time time;
  double error; /**< predicted / measured − 1 */
};

struct validate_table {
  int n;
  struct validate_pair *pairs;
};

/** \brief Leaves out the most ranks, then each size in turn, then each cut of two ranks or more.
 * The widths of a pair's interval are set without it: by leaving out again, of what stays. */
status_t validate_run(const struct study *study, const struct study_paths *paths,
                      const struct model_terms *from, struct validate_table *table);
void validate_free(struct validate_table *table);

/** \brief Sets how much wider \a model's intervals are beyond what was measured: so that they hold
 * 90% of the pairs. */
void validate_widen(const struct validate_table *table, struct model *model);

/** \brief Leaves out runs that are so far off a fit to the others that no scatter explains it. */
status_t validate_outliers(struct study *study, const struct study_paths *paths);

/** \brief Predicts each run of \a study by \a model, as it is measured: for stored predictions, or
 * runs kept back. */
status_t validate_against(const struct model *model, const struct study *study, struct validate_table *table);

/** \brief Sets the errors of predicted pairs, how many lie inside their intervals (of all, by what
 * was left out, by transport and by number of hosts), and which causes of errors the runs show. */
void validate_cover(const struct validate_table *table, const struct study *study, struct model *model);

/** \brief Whether a run is outside of its interval. */
int validate_is_outside(const struct validate_pair *pair);

/** \brief Median and largest |error| of the predicted pairs; n is their number. */
void validate_summary(const struct validate_table *table, double *median, double *worst, int *n);

#endif
