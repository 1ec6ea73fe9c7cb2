/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A virtual clock in place of stats_now(), for programs under test: literals can be expected
 * of whole runs. Deadlines keep the real clock.
 *
 * Only work moves it, by the costs that CLOCK_MACHINE lists, separated by spaces: NAME=VALUE for
 * all ranks, NAME\@RANK=VALUE for one. The word `usual` adds those of a machine of equal devices
 * and links, which is also what an unset variable means. Each rank has a clock of its own. A rank
 * that waits for a message or for all ranks continues at the time of arrival by the sender's clock,
 * whatever the processes really did. The linker puts the wrapped symbols (tests/Makefile.am)
 * between a program and what they replace. */
#ifndef TESTS_CLOCK_H
#define TESTS_CLOCK_H

#include <stdint.h>

/** Real seconds after which a rank that knows nothing of another's message polls again. */
#define CLOCK_PATIENCE 0.5

/** \brief The machine's word \a name, this rank's own where it has one, else \a missing. */
double clock_word(const char *name, double missing);

/** \brief By the launcher; 0 without one. */
int clock_rank(void);

/** \brief Nanoseconds since the program began. */
int64_t clock_now(void);

/** \brief Work of so many nanoseconds. */
void clock_spend(double nanoseconds);

/** \brief Work of \a amount times the word \a name. */
void clock_work(const char *name, double amount);

/** Nanoseconds that overlap with the next sweep. */
extern double clock_hidden;

/** \brief Whoever polls next without success goes on at \a time, or earlier where something else is
 * expected then. */
void clock_expect(int64_t time);

#ifdef MPI_VERSION /* where mpi.h is included first */
/** \brief How many times longer messages to that \a peer take: the word `path\@A-B`, of global
 * ranks A < B. */
double clock_path(MPI_Comm comm, int peer);
#endif

/** \brief Sets those flags of the last exchange over links that can be seen by now; NULL in
 * programs without links. */
void clock_flags(void) __attribute__((weak));

#endif
