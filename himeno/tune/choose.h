/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Resolves `auto` and defaults: grid, kernel, transport, decomposition. The result is the
 * same on every rank. */
#ifndef HIMENO_TUNE_CHOOSE_H
#define HIMENO_TUNE_CHOOSE_H

#include "himeno/config/choice.h"
#include <stddef.h>

/** \brief Sets kernel, transport, size, global extents and decomposition of \a choice, whose device
 * is open. Collective; ranks agree. */
status_t himeno_choose(struct himeno_choice *choice);

/** \brief Chooses the decomposition of the chosen grid for choice->kernel, the same on every rank.
 * Returns STATUS_ENVIRONMENT if the grid does not fit all devices. */
status_t himeno_refit(struct himeno_choice *choice);

/** \brief Returns the kernel in the file of --kernel-file, which is stored in \a choice. */
const struct himeno_kernel *himeno_own_kernel(const char *file, struct himeno_choice *choice);

/** \brief -k auto: chooses choice->kernel among the set's kernels by a short measured trial, and
 * the decomposition for it. One choice for all ranks; kernels that this device cannot run are
 * skipped. Collective. */
status_t himeno_tune(struct himeno_choice *choice);

/** \brief Collective: finds the ranks that share a device, to alternate in measuring it. */
status_t himeno_sharing_find(struct himeno_choice *choice);

/** \brief Chooses the transport of a run without trials, unless the user chose one: p2p if devices
 * can reach each other, otherwise copies through the host. Collective. */
status_t himeno_transport_rule(struct himeno_choice *choice);

/** \brief -x auto: times exchanges by each transport and takes the fastest, unless the user
 * chose. */
status_t himeno_transport_tune(struct himeno_choice *choice);

#endif
