/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What sets a run apart that is outside its interval, or further off than is hoped for. */
#ifndef TOOLS_PREDICT_EXPLAIN_H
#define TOOLS_PREDICT_EXPLAIN_H

#include "tools/predict/validate.h"

#define EXPLAIN_WHY STUDY_WHY

struct explained {
  /** NULL: as near as is hoped for; "not explained" where the data tell nothing */
  const char *cause;
  char why[EXPLAIN_WHY];
};

/** \brief What the runs of \a beside, measured as this one was, and those \a fitted say of a pair,
 * whose group was left out of these where \a left_out. \a model is of all of them. */
struct explained explain(const struct validate_pair *pair, const struct study *fitted,
                         const struct study *beside, int left_out, const struct model *model);

#endif
