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

/** \brief Counts a timed block: its time, phases and telemetry, and its values as the last ones. */
status_t himeno_block_add(struct himeno_run *run, const struct solver_block *block);

/** \brief Collective, after each block: whether \a wanted seconds have passed since \a begin on rank 0's clock, or a signal asked a
 * rank to end. Now and then it writes the partial document. */
status_t himeno_time_is_up(struct himeno_run *run, double begin, double wanted, int *up);

#endif
