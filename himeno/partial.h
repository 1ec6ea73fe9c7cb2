/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The document of a run that has not ended: whole, valid, and marked as partial, so that a signal, even one that cannot be
 * caught, leaves what was measured. */
#ifndef HIMENO_PARTIAL_H
#define HIMENO_PARTIAL_H

#include "himeno/run.h"

/** Seconds between two of them. */
#define PARTIAL_SECONDS 1.0

/** \brief Whether there is a file to keep up to date. */
int himeno_partial_wanted(const struct himeno_run *run);

/** \brief Collective: gathers the ranks, once there is a solver, and writes the document. */
status_t himeno_partial_write(struct himeno_run *run);

#endif
