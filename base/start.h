/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The first steps of every program: its launcher, name, output and signals. */
#ifndef BASE_START_H
#define BASE_START_H

/** The job's size and this process's rank, from the environment variables that launchers such as
 * mpirun and srun set. */
struct launcher {
  const char *variable;  /**< the environment variable with the number of ranks */
  long long ranks, rank; /**< number of ranks in the job, and this process's rank */
};

/** \brief Returns whether a launcher started this process as a rank; only then sets \a launcher. */
int launcher_find(struct launcher *launcher);

/** \brief Sets the program's name in messages, and calls output_keep. */
void start_program(const char *name);

/** \brief Handles SIGXFSZ and SIGPIPE, so that writing beyond the file size limit or to a closed
 * pipe fails with an error instead of ending the process. Programs that this one starts get the
 * default handlers. */
void start_signals(void);

#endif
