/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Leave-out validation: the model is fitted without some runs and predicts them. */
#ifndef TOOLS_PREDICT_VALIDATE_H
#define TOOLS_PREDICT_VALIDATE_H

#include "tools/predict/model.h"

/** One run that was left out, with its prediction from the other runs. */
struct validate_pair {
  enum model_kind kind;
  char left[STUDY_TEXT]; /**< what was left out: "8 ranks", "size L", "cut 2x2x1" */
  struct study_run run;
  int predicted; /**< 1: the run was predicted; 0: the other runs are too few */
  struct geometry geometry;
  int via; /**< index of the transport; −1: on one rank */
  double beyond[KINDS];
  struct model_time time;
  double error; /**< predicted / measured − 1 */
};

struct validate_table {
  int n;
  struct validate_pair *pairs;
};

/** \brief Leaves out and predicts the runs on the most ranks, then the runs of each size, then the
 * runs of each cut of two ranks or more. The interval of a run does not depend on that run: its
 * width comes from leaving out some of the other runs. */
status_t validate_run(const struct study *study, const struct study_paths *paths,
                      const struct model_terms *from, struct validate_table *table);
void validate_free(struct validate_table *table);

/** \brief Widens intervals beyond the measured range, so that they contain 90% of the pairs. */
void validate_widen(const struct validate_table *table, struct model *model);

/** \brief Leaves out runs that are so far from a fit to the other runs that no scatter explains
 * it. */
status_t validate_outliers(struct study *study, const struct study_paths *paths);

/** \brief Predicts each run of \a study with \a model. */
status_t validate_against(const struct model *model, const struct study *study, struct validate_table *table);

/** \brief Sets the errors of predicted pairs, the number inside their intervals (of all, by what
 * was left out, by transport and by number of hosts), and the causes of errors that the runs
 * show. */
void validate_cover(const struct validate_table *table, const struct study *study, struct model *model);

int validate_is_outside(const struct validate_pair *pair);

/** \brief Sets the median and the largest |error| of the predicted pairs, and their number \a n. */
void validate_summary(const struct validate_table *table, double *median, double *worst, int *n);

#endif
