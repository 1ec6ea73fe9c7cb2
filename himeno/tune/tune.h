/* SPDX-License-Identifier: MIT */
/** \file
 * \brief -k auto: a short measured trial of kernels, remembered in a cache file. */
#ifndef HIMENO_TUNE_TUNE_H
#define HIMENO_TUNE_TUNE_H

#include "himeno/choice.h"

/** \brief Chooses choice->kernel among the set's kernels for trial, and cuts the grid for it. One
 * choice for all ranks; kernels that this device cannot run are passed over. Collective. */
status_t himeno_tune(const struct himeno_config *config, struct himeno_choice *choice);

#endif
