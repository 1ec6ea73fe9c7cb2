/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What `auto` and defaults come to: grid, kernel, transport, cut. Every rank comes to the same. */
#ifndef HIMENO_TUNE_CHOOSE_H
#define HIMENO_TUNE_CHOOSE_H

#include "himeno/run.h"

/** \brief Fills kernel, transport, size, global extents and cut of \a run, whose device is open. Collective; ranks agree. */
status_t himeno_choose(struct himeno_run *run);

/** \brief The cut of the chosen grid for run->kernel, and whether it fits all devices: STATUS_ENVIRONMENT if not. Every rank
 * comes to the same. */
status_t himeno_refit(struct himeno_run *run);

/** \brief The kernel that --kernel-file names. */
const struct himeno_kernel *himeno_own_kernel(struct himeno_run *run);

/** \brief Measures a few exchanges by each transport, unless one was asked for, and takes the fastest. */
status_t himeno_transport_tune(struct himeno_run *run);

/** \brief Why it is the transport of the run, in words. */
const char *himeno_transport_why(const struct himeno_run *run);

/** \brief "default", "asked", "trial", "remembered". */
const char *himeno_choice_name(enum himeno_choice choice);

#endif
