/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The first steps of every program: its launcher, name, output and signals. */
#ifndef BASE_START_H
#define BASE_START_H

/** The number of processes that a launcher such as mpirun or srun announces to each of them. */
struct launcher {
  const char *variable;  /**< the environment variable with the number of ranks */
  long long ranks, rank; /**< number of ranks in the job, and this process's rank */
};

/** \brief Whether a launcher started this process as a rank; \a launcher is set only then. */
int launcher_find(struct launcher *launcher);

/** \brief Sets the program's name in messages, and calls output_keep. */
void start_program(const char *name);

/** \brief Ignores SIGXFSZ and SIGPIPE: a file beyond the size limit and a reader that closed its
 * pipe become errors of the write, like a full disk, instead of ending the process. Programs that
 * this one starts get the default handlers. */
void start_signals(void);

#endif
