/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What the parts of a fit share: the runs with their geometries, and the parameters. */
#ifndef TOOLS_PREDICT_FIT_PRIVATE_H
#define TOOLS_PREDICT_FIT_PRIVATE_H

#include "tools/predict/model.h"

/** One run with its geometry. */
struct sample {
  const struct study_run *run;
  struct geometry geometry;
  int via;
  int configuration; /**< the same for runs of the same grid, cut and transport */
  double weight;     /**< how often its configuration was drawn */
};

enum parameter_kind { OF_VALUE, OF_SHARE, OF_CACHE_POINTS, OF_MEMORY, OF_HINDER };

struct parameter {
  enum parameter_kind kind;
  int column;
  double guess, width; /**< of the logarithm; it weighs as one run that is off by its spread */
};

#define PARAMETERS_MAX (TERMS + 2 + 5 * STUDY_TRANSPORTS_MAX)

struct fitting {
  const struct study *study;
  struct sample *samples;
  int n, configurations;
  double sigma[STUDY_TRANSPORTS_MAX + 1]; /**< of runs per transport; last: one rank */
  struct parameter parameter[PARAMETERS_MAX];
  int parameters;
  struct model *model; /**< what the parameters are put into */
};

/** \brief The transports of the study's runs, each with its paths. STATUS_ENVIRONMENT where
 * comm-gpu measured none. */
status_t fit_transports_choose(const struct study *study, const struct study_paths *paths,
                               struct model_terms *terms);

/** \brief The runs of the study; the caller frees f->samples. */
status_t fit_samples_make(const struct study *study, struct fitting *f);

/** \brief What was measured; STATUS_ENVIRONMENT, saying what to measure, if it is too little. */
void fit_range_note(const struct fitting *f);
status_t fit_enough_check(const struct fitting *f);

#endif
