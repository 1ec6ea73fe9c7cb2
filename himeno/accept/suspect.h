/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Naming a rank that is suspected, and what its device has that the others' have not. Rank
 * 0. */
#ifndef HIMENO_ACCEPT_SUSPECT_H
#define HIMENO_ACCEPT_SUSPECT_H

#include <stddef.h>

#include "himeno/result.h"

/** \brief "rank 3 on node07, GPU-…" (or the device's name where it has no UUID). Returns text. */
const char *suspect_name(const struct himeno_result *result, int rank, char *text, size_t size);

/** \brief "clock 1305 MHz where the usual is 1980, throttled (thermal)", or "nothing that its
 * device tells". Returns text. */
const char *suspect_differs(const struct himeno_result *result, int rank, char *text, size_t size);

/** \brief What the rank's device, links and cards counted meanwhile, in words, "" for nothing.
 * Returns text. */
const char *suspect_counted(const struct himeno_result *result, int rank, char *text, size_t size);

/** \brief How many errors the \a rank counted that counted most, NAN where nobody does, and which.
 * Where all counted none, \a rank is −1 and \a text says what cannot be read. NVLink's CRC errors
 * are none of them: a link repeats what they spoil, and sound ones have some. */
double suspect_most_counted(const struct himeno_result *result, int *rank, char *text, size_t size);

/** \brief The straggler in words: how slow, where, what differs, and the neighbour whose link it
 * may share. Returns text. */
const char *suspect_straggler(const struct himeno_result *result, const struct straggler *straggler,
                              char *text, size_t size);

/** \brief Of a slow way's two ends, \a rank and \a peer, the one that is suspected: whose computing
 * was slow all the time, or else for a while, where the other's was not so; \a rank where both are
 * alike, as at a bad link's ends. \a text gets the other end: "to rank 3". */
void suspect_end(const struct himeno_result *result, int *rank, int peer, char *text, size_t size);

/** What a device told in an episode, and outside of it: medians, −1 where unknown. */
struct suspect_meanwhile {
  double then[TELEMETRY_VALUES], usual[TELEMETRY_VALUES];
  int throttle; /**< reasons that were none outside of it */
  int changed;  /**< a bit for each enum telemetry_fact that was seen to change in it */
};
struct suspect_meanwhile suspect_meanwhile(const struct himeno_result *result, const struct episode *episode);

/** \brief The episode in words: how slow, from when to when, and what its device told then that it
 * did not tell else. Returns text. */
const char *suspect_episode(const struct himeno_result *result, const struct episode *episode, char *text,
                            size_t size);

#endif
