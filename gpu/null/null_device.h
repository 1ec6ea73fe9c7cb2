/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The null backend, for tests: host memory as a device, with failures on demand.
 *
 * HIMENO_NULL_FAIL=N makes the Nth call of the run fail (counting all verbs that can fail, and
 * kernel launches) with the status that such a call has on a real device. HIMENO_NULL_HANG=N makes
 * the Nth call never return, as on a hung device. HIMENO_NULL_PEER=KIND makes operations on
 * neighbours' memory fail silently. HIMENO_NULL_RANK=R limits these three to the process whose
 * launcher assigned that rank. HIMENO_NULL_DEVICES=N shows N devices (default 8).
 * HIMENO_NULL_APART=R makes rank R and its neighbours unable to access each other's memory. The
 * devices are listed only if the backend is named (`-b null`), and never chosen automatically. */
#ifndef GPU_NULL_NULL_DEVICE_H
#define GPU_NULL_NULL_DEVICE_H

#include "base/status.h"

/** \brief Counts one call of \a verb. Logs and returns \a status if this is the call that must
 * fail. */
status_t null_call(const char *verb, status_t status);

long null_calls(void);

/** \brief Returns 1 if HIMENO_NULL_PEER names \a kind. */
int null_peer_fault(const char *kind);

#endif
