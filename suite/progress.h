/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a program is at, on standard error, for whoever waits for it.
 *
 * On a terminal it is one line that changes in place; elsewhere a line now and then, so that a
 * short run says nothing. It looks at the clock only where it is called, which is never in a timed
 * part: it has neither a thread nor a signal. */
#ifndef SUITE_PROGRESS_H
#define SUITE_PROGRESS_H

/** A phase, however often it began: what it says up to a comma. */
struct progress_phase {
  char name[48];
  double seconds;
};

enum { PROGRESS_PHASES_MAX = 24 }; /* the last takes what others come to */

/** \brief The program begins; \a quiet: nothing is said, as for all ranks but the first. What has
 * gone by since \a started, of the clock of stats_now, is the phase "starting". */
void progress_open(int quiet, double started);

/** \brief The phases until now, in the order of their first begin, which together are all the time
 * since the start; returns how many. */
int progress_phases(const struct progress_phase **phases);

/** \brief What the phases are of from now on ("rung 3 of 6, stream"); "" for the whole run. */
void progress_part(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief A phase begins: "trying kernels, 3 of 5". */
void progress_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief The same of one that takes so many \a seconds, and says how many have gone by. */
void progress_begin_timed(const char *phase, double seconds);

/** \brief The phase goes on: what has been reached in it, "3 blocks, 3.4 GFLOPS". */
void progress_reached(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief The phase goes on. */
void progress_tick(void);

/** \brief Leaves a terminal's line empty, before something else is written. */
void progress_clear(void);

#endif
