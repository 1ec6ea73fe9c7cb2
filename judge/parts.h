/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Parts of a judgement: noise, exchanges between pairs of ranks, and suspected ranks in
 * words.
 *
 * Checks that noise or a busy host may explain are not judged. Noise is an upper bound
 * (stats_noise_max), so that few blocks that happen to agree do not pass for a quiet run. It is
 * that of the blocks, or of the device that varies most, whatever it exchanges. A host whose other
 * processes took the cores makes no rank slow: that share of the time counts as noise does. */
#ifndef JUDGE_PARTS_H
#define JUDGE_PARTS_H

#include "base/document.h"
#include "judge/policy.h"
#include "judge/view.h"

/* ---- noise ---- */

/** \brief Noise beyond which a check of this kind does not fail. */
double noise_limit(const struct policy *policy, enum check_of of);

/** \brief Upper bound of the noise of the blocks' times, relative. */
double noise_of_blocks(const struct judge_run *run);

/** \brief Makes a failed check noisy if noise or a busy host may explain it. */
void noise_heed(const struct judge_run *run, const struct policy *policy, enum check_of of,
                struct check *check);

/* ---- pairs ---- */

/** Fewer pairs on the same kind of path have no usual value. */
#define PAIRS_SIMILAR_MIN 3

/** \brief The latency of the slowest pair, or its rate if that is what \a check limits; \a check
 * gets the suspected end, and the other one in words. NAN if no pair was measured. */
double pairs_slowest(const struct judge_run *run, struct check *check);

/** \brief The same of the pair that is worst compared with the median of similar ones: of one
 * transport, within hosts or between them. Inapplicable if no kind has PAIRS_SIMILAR_MIN pairs. */
double pairs_ratio(const struct judge_run *run, struct check *check);

/* ---- suspects ---- */

/** \brief Adds to a text. */
void suspect_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** \brief "rank 3 on node07, GPU-…" (or the device's name if it has no UUID). Returns text. */
const char *suspect_name(const struct judge_run *run, int rank, char *text, size_t size);
const char *suspect_row(const json_t *row, int rank, char *text, size_t size);

/** \brief "clock 1305 MHz where the usual is 1980, throttled (thermal)", or "its device
 * reports no difference". Returns text. */
const char *suspect_differs(const struct judge_run *run, int rank, char *text, size_t size);

/** \brief The errors that the rank's device, links and cards counted during the run, "" for none.
 * Returns text. */
const char *suspect_counted(const struct judge_run *run, int rank, char *text, size_t size);

/** \brief The number of errors of the rank that counted most, NAN if no counter is known; \a check
 * gets the rank and which. If all counted none, there is no rank, and it gets the counters that
 * cannot be read. NVLink's CRC errors are left out: a link repeats what they spoil, and sound ones
 * have some. */
double suspect_most_counted(const struct judge_run *run, struct check *check);

/** \brief The blocks with that reason of throttling, \a among some, that had most; and which of
 * them there were. */
double suspect_throttled(const json_t *row, int among, int *found);

/** \brief The straggler in words: how slow, where, what differs, and the neighbour whose link it
 * may share. Returns text. */
const char *suspect_straggler(const struct judge_run *run, const struct straggler *straggler, char *text,
                              size_t size);

/** \brief The end of a slow path, \a rank or \a peer, that is suspected: the one whose computing is
 * a straggler's, or else was slow for a while, if the other's was not; \a rank if both are alike,
 * as at a bad link's ends. \a text gets the other end: "to rank 3". */
void suspect_end(const struct judge_run *run, int *rank, int peer, char *text, size_t size);

/** \brief The slowdown in words: how slow, from when to when, and what its device reported then and
 * not otherwise. Returns text. */
const char *suspect_slowdown(const struct judge_run *run, const struct slowdown *slowdown, char *text,
                             size_t size);

/** \brief The field `meanwhile`: what the device reported in a slowdown and outside of it. */
void suspect_concurrent_document(struct doc *d, const struct judge_run *run, const struct slowdown *slowdown);

/** \brief Of comm-gpu's streams between hosts: the greatest contention of a pair of hosts, the
 * distance of the slowest host, and that of the slowest card. */
double fabric_contention(const struct judge_run *run, struct check *check);
double fabric_spread(const struct judge_run *run, struct check *check);
double wire_spread(const struct judge_run *run, struct check *check);

#endif
