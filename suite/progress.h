/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Progress on standard error.
 *
 * On a terminal one line is updated in place. Otherwise a line is printed every few seconds, and
 * none in a short run. There is no thread and no signal: lines are printed and the clock is read
 * only in these calls, which are never in a timed part. */
#ifndef SUITE_PROGRESS_H
#define SUITE_PROGRESS_H

/** Total time of all phases of this name; the name ends at the first comma. */
struct progress_phase {
  char name[48];
  double seconds;
};

enum { PROGRESS_PHASES_MAX = 24 }; /* the last one counts all further phases */

/** \brief Call at the start of the program. \a quiet: print nothing, as on all ranks except the
 * first. The time since \a started, by the clock stats_now, counts as the phase "starting". */
void progress_open(int quiet, double started);

/** \brief Sets \a phases to the phases so far, in the order in which they first began. They cover
 * all time since the start. Returns their number. */
int progress_phases(const struct progress_phase **phases);

/** \brief Sets the part to which the next phases belong, e.g. "rung 3 of 6, stream", or "". */
void progress_part(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief Begins a phase, e.g. "trying kernels, 3 of 5". */
void progress_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief Sets the expected time until the end of the program; progress lines then show the time
 * left. The first call prints the whole duration. A time that is not positive is unknown and
 * ignored. */
void progress_expect(double seconds);

/** \brief Prints what the phase has achieved so far, e.g. "3 blocks, 3.4 GFLOPS". */
void progress_reached(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief Call repeatedly in a long phase, so that its line is updated. */
void progress_tick(void);

/** \brief Clears the terminal's line before other output. */
void progress_clear(void);

#endif
