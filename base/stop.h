/* SPDX-License-Identifier: MIT */
/** \file
 * \brief SIGTERM and SIGINT as a wish to end: the program finishes what it is at, and reports. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

/** \brief From here on the first such signal only sets a flag; a second one ends the process as
 * usual. */
void stop_catch(void);

/** \brief For a call that may hang: such a signal ends the process after so many seconds, unless
 * stop_within(0) comes before. */
void stop_within(int seconds);

/** \brief Whether one has come. */
int stop_asked(void);

#endif
