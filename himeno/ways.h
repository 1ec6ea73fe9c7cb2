/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The ways between neighbours, each pair by itself: latency and rate, for the checks of an
 * acceptance.
 *
 * Pairs along one direction are measured at once, in two halves that share no rank, by the run's
 * transport or what that falls back to. An exchange of one float tells the latency, and what a
 * larger one takes longer the rate; both go both ways at once. */
#ifndef HIMENO_WAYS_H
#define HIMENO_WAYS_H

#include "himeno/choice.h"
#include "himeno/result.h"

/** \brief Collective, before there is a solver: fills result->ways by this rank's messages. */
status_t ways_measure(const struct himeno_choice *choice, struct himeno_result *result);

/** What the device's counters say of how a pair's bytes went. */
enum ways_went {
  WAYS_UNTOLD,
  WAYS_NVLINK,
  WAYS_PCIE,      /**< to the neighbour or to the host, which nobody can tell there */
  WAYS_HOST,      /**< as such a transport does */
  WAYS_DISGUISED, /**< by PCIe, though there are NVLinks and the transport is to pass the host by */
  WAYS_WENT
};
extern const char *const ways_went_names[WAYS_WENT]; /**< NULL for the first */

/** \brief Whether nine tenths of what \a rank sent were counted, and where. Untold to other
 * hosts: through PCIe is the way to their network cards too. */
enum ways_went ways_went(const struct himeno_result *result, int rank, const struct himeno_path *path);

#endif
