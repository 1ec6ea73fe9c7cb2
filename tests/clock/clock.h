/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The virtual clock of null devices (gpu/null/null_device.h), in place of the system's in
 * programs under test: literals can be expected of whole runs.
 *
 * Nothing but work moves it, by what CLOCK_MACHINE says, words apart by spaces: NAME=VALUE for all
 * ranks, NAME\@RANK=VALUE for one. Each rank has its own. Who waits for a message or for all ranks
 * goes on when that has arrived by the sender's clock, whatever the processes did in truth. The
 * linker puts the wrapped symbols (tests/Makefile.am) between a program and what they replace. */
#ifndef TESTS_CLOCK_H
#define TESTS_CLOCK_H

#include <stdint.h>

/** \brief The machine's word \a name, this rank's own where it has one, else \a missing. */
double clock_word(const char *name, double missing);

/** \brief Nanoseconds since the program began. */
int64_t clock_now(void);

/** \brief Work of so many nanoseconds. */
void clock_spend(double nanoseconds);

/** \brief Work of \a amount times the word \a name. */
void clock_work(const char *name, double amount);

/** \brief Whoever polls next without success goes on at \a time, or earlier where something else is
 * expected then. */
void clock_expect(int64_t time);

/** \brief Sets those flags of the last exchange over links that can be seen by now; NULL in
 * programs without links. */
void clock_flags(void) __attribute__((weak));

#endif
