/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The very begin of every program. */
#ifndef BASE_START_H
#define BASE_START_H

/** \brief Names the program in its messages, and calls output_keep. */
void start_program(const char *name);

/** \brief From here on a file beyond the size limit and a reader that went away are errors of the
 * write like a full disk, and end neither the process nor what it says. Programs that this one
 * starts are not changed. */
void start_signals(void);

#endif
