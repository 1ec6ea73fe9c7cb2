/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What `auto` and defaults come to: grid, kernel, transport, cut. Every rank comes to the
 * same. */
#ifndef HIMENO_TUNE_CHOOSE_H
#define HIMENO_TUNE_CHOOSE_H

#include "himeno/config/choice.h"
#include <stddef.h>

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

/* The tune cache: a file that remembers the fastest kernels, himeno-gpu/tune.json in
 * $XDG_CACHE_HOME or ~/.cache, or the file that HIMENO_TUNE_CACHE names. Its faults are warnings,
 * never errors. One process writes at a time, and readers see the old file or the new one. A file
 * of another format is never replaced: the variable may name any file. */

/** \brief Reads the kernel remembered for \a key into \a kernel. Returns 1 if there is one. A
 * damaged file counts as empty, with a warning. */
int tune_cache_find(const char *key, char *kernel, size_t size);

/** \brief Remembers \a kernel with its rate for \a key. Returns 1 on success, else warns. */
int tune_cache_store(const char *key, const char *kernel, double gflops);

#endif
