/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The null backend, for tests: host memory as a device, and failure on demand.
 *
 * HIMENO_NULL_FAIL=N makes the Nth call of the run fail (counted over all verbs that can fail, and
 * over kernel launches) with the status that such a call has on a real device; HIMENO_NULL_HANG=N
 * makes the Nth call never return, as on a hung device. HIMENO_NULL_RANK=R limits them to the
 * process whose launcher gave it that rank. HIMENO_NULL_DEVICES=N shows N devices (default 8).
 * HIMENO_NULL_APART=R cuts the rank R off from its neighbours' memory; HIMENO_NULL_PEER=KIND lets
 * what it does there fail unnoticed. The devices are on the list
 * only when named (`-b null`): they are never chosen automatically. */
#ifndef GPU_NULL_NULL_DEVICE_H
#define GPU_NULL_NULL_DEVICE_H

#include "base/status.h"

/** \brief Counts one call named \a verb; logs and returns \a status if this is the call that must
 * fail. */
status_t null_call(const char *verb, status_t status);

/** \brief How many calls were counted so far. */
long null_calls(void);

/** \brief Whether HIMENO_NULL_PEER names \a kind. */
int null_peer_fault(const char *kind);

#endif
