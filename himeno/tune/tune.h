/* SPDX-License-Identifier: MIT */
/** \file
 * \brief -k auto: a short measured trial of kernels, remembered in a cache file. */
#ifndef HIMENO_TUNE_TUNE_H
#define HIMENO_TUNE_TUNE_H

#include "himeno/run.h"

/** \brief Chooses run->kernel among the set's kernels for trial, and cuts the grid for it. Collective; one choice for all
 * ranks. Kernels that this device cannot run are passed over. */
status_t himeno_tune(struct himeno_run *run);

#endif
