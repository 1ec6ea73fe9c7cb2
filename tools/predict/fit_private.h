/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What the parts of a fit share: the runs with their geometries and weights. */
#ifndef TOOLS_PREDICT_FIT_PRIVATE_H
#define TOOLS_PREDICT_FIT_PRIVATE_H

#include "tools/predict/model.h"

/** One run with its geometry. */
struct sample {
  const struct study_run *run;
  struct geometry geometry;
  int way;
};

struct fitting {
  const struct study *study;
  struct sample *samples;
  int n;
  double weight[STUDY_WAYS_MAX + 1]; /**< of runs by each way; the last: of those on one rank */
};

/** \brief Place of a run's weight: that of its way, the last for one rank. */
int fit_group(const struct sample *s);

/** \brief Each run's own time, in their order, then phases and priors, each run bound by what is
 * longer with the model's present values. The caller frees the problem. */
status_t fit_problem_make(const struct fitting *f, const struct model *model, struct lsq *problem);

#endif
