/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What `auto` and defaults come to: grid, kernel, transport, cut. Every rank comes to the
 * same. */
#ifndef HIMENO_TUNE_CHOOSE_H
#define HIMENO_TUNE_CHOOSE_H

#include "himeno/config/choice.h"

/** \brief Fills kernel, transport, size, global extents and cut of \a choice, whose device is open.
 * Collective; ranks agree. */
status_t himeno_choose(struct himeno_choice *choice);

/** \brief The cut of the chosen grid for choice->kernel, and whether it fits all devices:
 * STATUS_ENVIRONMENT if not. Every rank comes to the same. */
status_t himeno_refit(struct himeno_choice *choice);

/** \brief The kernel in the file that --kernel-file names, kept in \a choice. */
const struct himeno_kernel *himeno_own_kernel(const char *file, struct himeno_choice *choice);

/** \brief -k auto: chooses choice->kernel among the set's kernels by a short measured trial, which
 * a cache file remembers, and cuts the grid for it. One choice for all ranks; kernels that this
 * device cannot run are passed over. Collective. */
status_t himeno_tune(struct himeno_choice *choice);

/** \brief Collective: which ranks share a device, and so take turns at what is one device's. */
status_t himeno_sharing_find(struct himeno_choice *choice);

/** \brief The transport of a run that tries nothing, unless one was asked for: by rule the best for
 * each pair. Stores into the neighbour's memory where devices reach each other, copies through the
 * host elsewhere. Collective. */
status_t himeno_transport_rule(struct himeno_choice *choice);

/** \brief -x auto: measures a few exchanges by each transport, unless one was asked for, and takes
 * the fastest. */
status_t himeno_transport_tune(struct himeno_choice *choice);

#endif
