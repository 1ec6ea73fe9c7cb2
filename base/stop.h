/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Signals that ask a program to end: it finishes its current block and reports.
 *
 * They are SIGTERM, SIGINT, and those that batch systems send before a time limit: SIGUSR1,
 * SIGUSR2, SIGXCPU. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

/** \brief Catches the signals that ask the program to end. The first signal of a number only sets a
 * flag; a second one with that number ends the process. */
void stop_catch(void);

/** \brief Call before a function that may hang. A signal that asks the program to end then ends it
 * after \a seconds, unless stop_within(0) is called before. */
void stop_within(int seconds);

/** \brief Returns whether a signal asked the program to end. Reinstalls replaced handlers. */
int stop_asked(void);

#endif
