/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The very begin of every program. */
#ifndef BASE_START_H
#define BASE_START_H

/** The number of processes that a launcher such as mpirun or srun announces to each of them. */
struct launcher {
  const char *variable;  /**< that holds the number of ranks */
  long long ranks, rank; /**< of the job, and of this process in it */
};

/** \brief Whether a launcher started this process as a rank; \a launcher is set only then. */
int launcher_find(struct launcher *launcher);

/** \brief Names the program in its messages, and calls output_keep. */
void start_program(const char *name);

/** \brief From here on a file beyond the size limit and a reader that went away are errors of the
 * write like a full disk, and end neither the process nor what it says. Programs that this one
 * starts are not changed. */
void start_signals(void);

#endif
