/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Leave-out validation: the model is fitted without some runs and predicts them. */
#ifndef TOOLS_PREDICT_VALIDATE_H
#define TOOLS_PREDICT_VALIDATE_H

#include "tools/predict/model.h"

enum validate_kind { LEFT_RANKS, LEFT_SIZE, LEFT_CUT };

/** One run that was left out, and what the others say of it. */
struct validate_pair {
  enum validate_kind kind;
  char left[STUDY_TEXT]; /**< what was left out: "8 ranks", "size L", "cut 2x2x1" */
  struct study_run run;
  int predicted; /**< 0: the rest tells too little */
  struct model_time time;
  double error; /**< predicted / measured − 1 */
};

struct validate_table {
  int n;
  struct validate_pair *pairs;
};

/** \brief Leaves out the most ranks, then each size in turn, then each cut of two ranks or more. */
status_t validate_run(const struct study *study, const struct study_paths *paths,
                      struct validate_table *table);
void validate_free(struct validate_table *table);

/** \brief Predicts each run of \a study by \a model, as it is measured: for a seal, a simulation,
 * or runs kept back. */
status_t validate_against(const struct model *model, const struct study *study, struct validate_table *table);

/** \brief Root mean square of the logarithms of predicted / measured of a kind, of all runs or of
 * those of two ranks or more by one transport; 0 when there is none. */
double validate_spread(const struct validate_table *table, enum validate_kind kind, const char *transport);

/** \brief Median and largest |error| of the predicted pairs; n is their number. */
void validate_summary(const struct validate_table *table, double *median, double *worst, int *n);

/** \brief "ranks", "size", "cut". */
const char *validate_kind_name(enum validate_kind kind);

#endif
