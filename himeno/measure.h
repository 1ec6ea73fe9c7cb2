/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The timed part of a run. */
#ifndef HIMENO_MEASURE_H
#define HIMENO_MEASURE_H

#include "himeno/run.h"

/** Sweeps before the timed part of the original protocol. */
#define OFFICIAL_REHEARSAL 3

/** \brief Runs verified blocks for as long as the configuration says, with the ceiling before and after them, and fills
 * run->result. Collective. STATUS_WRONG when a block differs from \a value, which may be sharpened on the way. */
status_t himeno_measure(struct himeno_run *run, struct verify_value *value);

#endif
