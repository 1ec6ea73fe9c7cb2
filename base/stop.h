/* SPDX-License-Identifier: MIT */
/** \file
 * \brief SIGTERM and SIGINT as a wish to end: the program finishes what it is at, and reports. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

/** \brief From here on the first such signal only sets a flag; a second one ends the process as usual. */
void stop_catch(void);

/** \brief Whether one has come. */
int stop_asked(void);

#endif
