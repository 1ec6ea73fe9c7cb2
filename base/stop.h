/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Signals that ask a program to end: it finishes its current block and reports.
 *
 * They are SIGTERM, SIGINT, and those that batch systems send before a time limit: SIGUSR1,
 * SIGUSR2, SIGXCPU. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

/** \brief Catch these signals: the first one of a kind only sets a flag, the second one ends the
 * process. */
void stop_catch(void);

/** \brief For a call that may hang: such a signal ends the process after so many seconds, unless
 * stop_within(0) comes before. */
void stop_within(int seconds);

/** \brief Whether one has come. If not, takes them back from libraries that replaced handlers. */
int stop_asked(void);

#endif
