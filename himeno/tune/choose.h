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

/** \brief Chooses the decomposition of the chosen grid for choice->kernel. STATUS_ENVIRONMENT if it
 * does not fit all devices. The result is the same on every rank. */
status_t himeno_refit(struct himeno_choice *choice);

/** \brief The kernel in the file of --kernel-file, stored in \a choice. */
const struct himeno_kernel *himeno_own_kernel(const char *file, struct himeno_choice *choice);

/** \brief -k auto: chooses choice->kernel among the set's kernels by a short measured trial, and
 * the decomposition for it. One choice for all ranks; kernels that this device cannot run are
 * skipped. Collective. */
status_t himeno_tune(struct himeno_choice *choice);

/** \brief Collective: finds the ranks that share a device, and so alternate in measurements of one
 * device. */
status_t himeno_sharing_find(struct himeno_choice *choice);

/** \brief Chooses the transport of a run without trials, unless the user chose one: p2p if devices
 * can reach each other, otherwise copies through the host. Collective. */
status_t himeno_transport_rule(struct himeno_choice *choice);

/** \brief -x auto: times a few exchanges per transport and chooses the fastest, unless the user
 * chose a transport. */
status_t himeno_transport_tune(struct himeno_choice *choice);

#endif
