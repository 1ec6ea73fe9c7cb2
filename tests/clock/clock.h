/* SPDX-License-Identifier: MIT */
/** \file \brief A virtual clock that replaces stats_now() in programs under test, so that tests can
 * compare figures of whole runs with literals. Deadlines use the real clock.
 *
 * Only work advances the clock, by the costs in CLOCK_MACHINE, which are separated by spaces:
 * NAME=VALUE for all ranks, NAME\@RANK=VALUE for one rank. The word `usual`, or an unset variable,
 * stands for the costs of a machine with equal devices and links. Each rank has its own clock. A
 * rank that waits for a message or for all ranks continues at the arrival time on the sender's
 * clock, whenever that is in real time. The linker (tests/Makefile.am) puts the wrapped symbols
 * between a program and the functions that they replace. */
#ifndef TESTS_CLOCK_H
#define TESTS_CLOCK_H

#include <stdint.h>

/** Real seconds for which a rank waits for a message that it knows nothing about. */
#define CLOCK_PATIENCE 0.5

/** \brief Returns this rank's value of the word \a name, else that of all, else \a missing. */
double clock_word(const char *name, double missing);

/** \brief Returns the rank assigned by the launcher; 0 without a launcher. */
int clock_rank(void);

/** \brief Returns the nanoseconds since the program began. */
int64_t clock_now(void);

/** \brief Advances the clock by this time. */
void clock_spend(double nanoseconds);

/** \brief Advances the clock by \a amount times the value of the word \a name. */
void clock_work(const char *name, double amount);

/** Nanoseconds of the last exchange that overlap with the next sweep. */
extern double clock_hidden;

/** \brief The next unsuccessful poll advances the clock to \a time, or to an earlier time that was
 * passed before. */
void clock_expect(int64_t time);

#ifdef MPI_VERSION /* declared only after mpi.h */
/** \brief Returns the factor of the cost of messages to \a peer: the word `path\@A-B`, with global
 * ranks A < B. */
double clock_path(MPI_Comm comm, int peer);
#endif

/** \brief Sets the flags of the last exchange over links whose time has come. NULL in programs
 * without links. */
void clock_flags(void) __attribute__((weak));

#endif
