/* SPDX-License-Identifier: MIT */
/** \file \brief Internal functions of judge/: noise, exchanges between pairs of ranks, and
 * descriptions of suspected ranks.
 *
 * A check fails only if neither noise nor a busy host may explain the value. Noise is an upper
 * bound (stats_noise_max), because few blocks may agree by chance. The blocks of the run have one
 * noise; for the devices' own times, that of the device that varies most counts. The share of the
 * time in which other processes took a host's cores counts like noise. */
#ifndef JUDGE_PARTS_H
#define JUDGE_PARTS_H

#include "base/document.h"
#include "judge/policy.h"
#include "judge/view.h"

/* ---- noise ---- */

/** \brief Returns the noise above which a check of this kind does not fail. */
double noise_limit(const struct policy *policy, enum check_of of);

/** \brief Returns the upper bound of the relative noise of the blocks' times. */
double noise_of_blocks(const struct judge_run *run);

/** \brief Changes a failed check to noisy if noise or a busy host may explain the value. */
void noise_heed(const struct judge_run *run, const struct policy *policy, enum check_of of,
                struct check *check);

/* ---- pairs ---- */

/** Minimum number of pairs on the same kind of path for a median. */
#define PAIRS_SIMILAR_MIN 3

/** \brief Returns the latency of the slowest pair, or its rate if \a check limits a rate. \a check
 * gets the suspected end as rank, and the other end in words. Returns NAN if no pair was
 * measured. */
double pairs_slowest(const struct judge_run *run, struct check *check);

/** \brief Returns the worst latency or rate of a pair relative to the median of similar pairs,
 * which have the same transport and are all within hosts or all between hosts. \a check gets the
 * ends as in pairs_slowest; it is inapplicable if no group has PAIRS_SIMILAR_MIN pairs. */
double pairs_ratio(const struct judge_run *run, struct check *check);

/* ---- suspects ---- */

/** \brief Appends to a text of \a size bytes. */
void suspect_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** \brief Writes "rank 3 on node07, GPU-…" (the device's name if it has no UUID). Returns text. */
const char *suspect_name(const struct judge_run *run, int rank, char *text, size_t size);
const char *suspect_row(const json_t *row, int rank, char *text, size_t size);

/** \brief Writes how the rank's device differs from the others, e.g. "PCIe lanes 8 (median of the
 * ranks: 16)", or "its device reports no difference". Returns text. */
const char *suspect_differs(const struct judge_run *run, int rank, char *text, size_t size);

/** \brief Lists errors that the rank's device, links and cards counted in the run. Returns text. */
const char *suspect_counted(const struct judge_run *run, int rank, char *text, size_t size);

/** \brief Returns the largest number of errors of a rank; NAN if no counter is known. \a check gets
 * that rank and its counters. If all counters are zero, \a check gets no rank, and the counters
 * that cannot be read. NVLink's CRC errors do not count: a link retransmits damaged data, and
 * healthy links have some. */
double suspect_most_counted(const struct judge_run *run, struct check *check);

/** \brief Returns the number of blocks with the most frequent reason of throttling; only reasons in
 * the bits \a among count. \a found gets the bits of those that occurred. */
double suspect_throttled(const json_t *row, int among, int *found);

/** \brief Describes a straggler: how slow it is, where, what differs, and the neighbour whose link
 * may be the cause. Returns text. */
const char *suspect_straggler(const struct judge_run *run, const struct straggler *straggler, char *text,
                              size_t size);

/** \brief Chooses which end of a slow path to suspect, \a rank or \a peer, and sets \a rank to it.
 * A straggler in computing is suspected first, then an end with a slowdown in computing. If the
 * ends are alike, as with a bad link, \a rank stays. \a text gets the other end: "to rank 3". */
void suspect_end(const struct judge_run *run, int *rank, int peer, char *text, size_t size);

/** \brief Describes a slowdown: how slow it was, from when to when, and what the device reported
 * only during it. Returns text. */
const char *suspect_slowdown(const struct judge_run *run, const struct slowdown *slowdown, char *text,
                             size_t size);

/** \brief Writes the field `meanwhile`: device values during a slowdown and outside of it. */
void suspect_concurrent_document(struct doc *d, const struct judge_run *run, const struct slowdown *slowdown);

/** \brief Values of comm-gpu's streams between hosts. fabric_contention: the largest factor by
 * which a pair slows down when all hosts send. fabric_spread and wire_spread: how far the slowest
 * host and the slowest card are below the median. */
double fabric_contention(const struct judge_run *run, struct check *check);
double fabric_spread(const struct judge_run *run, struct check *check);
double wire_spread(const struct judge_run *run, struct check *check);

/** \brief Returns the bus bandwidth of the slowest collective of comm-gpu, each at its best size.
 * \a check gets the slowest pair of ranks that the same run measured, and a rank with only slow
 * pairs. */
double collective_busbw(const struct judge_run *run, struct check *check);

#endif
