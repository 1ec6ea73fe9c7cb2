/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Progress on standard error.
 *
 * A terminal shows one line that changes in place. Otherwise a line is printed now and then, and
 * none in a short run. The clock is read only in these calls, which are never in a timed part:
 * there is no thread and no signal. */
#ifndef SUITE_PROGRESS_H
#define SUITE_PROGRESS_H

/** Time of a phase over all its occurrences; its name ends at the first comma. */
struct progress_phase {
  char name[48];
  double seconds;
};

enum { PROGRESS_PHASES_MAX = 24 }; /* the last one counts all further phases */

/** \brief The program begins. \a quiet: print nothing, as on all ranks but the first. The time
 * since \a started, of the clock of stats_now, counts as the phase "starting". */
void progress_open(int quiet, double started);

/** \brief The phases so far, in the order in which they first began; they cover all time since the
 * start. Returns their number. */
int progress_phases(const struct progress_phase **phases);

/** \brief Names the part that the next phases belong to ("rung 3 of 6, stream"); "" for the whole
 * run. */
void progress_part(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief A phase begins: "trying kernels, 3 of 5". */
void progress_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief The same for a phase planned to last \a seconds; prints how many have passed. */
void progress_begin_timed(const char *phase, double seconds);

/** \brief Prints what the phase has reached, "3 blocks, 3.4 GFLOPS". */
void progress_reached(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief The phase goes on. */
void progress_tick(void);

/** \brief Clears the terminal's line before other output. */
void progress_clear(void);

#endif
