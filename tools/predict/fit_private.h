/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Shared by the parts of a fit: the runs with their geometries, and the parameters. */
#ifndef TOOLS_PREDICT_FIT_PRIVATE_H
#define TOOLS_PREDICT_FIT_PRIVATE_H

#include "tools/predict/model.h"

/** One run with its geometry. */
struct sample {
  const struct study_run *run;
  struct geometry geometry;
  int via;
  int configuration; /**< index, equal for runs of the same grid, cut and transport */
  double weight;     /**< number of times that its configuration was drawn */
};

enum parameter_kind { OF_VALUE, OF_SHARE, OF_CACHE_POINTS, OF_MEMORY, OF_HINDER };

struct parameter {
  enum parameter_kind kind;
  int column;
  /** first guess of the logarithm, and its uncertainty: moving it by \a width costs as much loss as
   * one run whose error equals its spread */
  double guess, width;
};

#define PARAMETERS_MAX (TERMS + 2 + 5 * STUDY_TRANSPORTS_MAX)

struct fitting {
  const struct study *study;
  struct sample *samples;
  int n, configurations;
  double sigma[STUDY_TRANSPORTS_MAX + 1]; /**< spread of runs per transport; last: on one rank */
  struct parameter parameter[PARAMETERS_MAX];
  int parameters;
  struct model *model; /**< the model that is fitted */
};

/** \brief Finds the transports of the study's runs, each with its paths. Returns STATUS_ENVIRONMENT
 * if comm-gpu did not measure one of them. */
status_t fit_transports_choose(const struct study *study, const struct study_paths *paths,
                               struct model_terms *terms);

/** \brief Makes the samples of the study's runs; the caller frees f->samples. */
status_t fit_samples_make(const struct study *study, struct fitting *f);

/** \brief fit_range_note stores the measured range in the model. fit_enough_check returns
 * STATUS_ENVIRONMENT, with a message that says what to measure, if that range is too small. */
void fit_range_note(const struct fitting *f);
status_t fit_enough_check(const struct fitting *f);

#endif
