/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Names a suspected rank, and what is different about its device. */
#ifndef JUDGE_SUSPECT_H
#define JUDGE_SUSPECT_H

#include <stddef.h>

#include "base/document.h"
#include "judge/view.h"

/** \brief "rank 3 on node07, GPU-…" (or the device's name if it has no UUID). Returns text. */
const char *suspect_name(const struct judge_run *run, int rank, char *text, size_t size);

/** \brief "clock 1305 MHz where the usual is 1980, throttled (thermal)", or "nothing that its
 * device tells". Returns text. */
const char *suspect_differs(const struct judge_run *run, int rank, char *text, size_t size);

/** \brief The errors that the rank's device, links and cards counted during the run, "" for none.
 * Returns text. */
const char *suspect_counted(const struct judge_run *run, int rank, char *text, size_t size);

/** \brief The number of errors of the \a rank that counted most, NAN if no counter is known, and
 * which. If all counted none, \a rank is −1 and \a text lists the counters that cannot be read.
 * NVLink's CRC errors are left out: a link repeats what they spoil, and sound ones have some. */
double suspect_most_counted(const struct judge_run *run, int *rank, char *text, size_t size);

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
void suspect_meanwhile_document(struct doc *d, const struct judge_run *run, const struct slowdown *slowdown);

#endif
